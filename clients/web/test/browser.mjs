// Drives a real Chromium and loads the generated client into its pages.
import { build } from "esbuild";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, test as run } from "node:test";
import { chromium } from "playwright-core";

const EXECUTABLE = process.env.CHROMIUM ?? "/usr/bin/chromium";
// Chromium has no sandbox as root, background calls would fail in a closed network, and one name
// resolves to this machine, as in a DNS rebinding attack.
const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--host-resolver-rules=MAP rebound.test 127.0.0.1",
];

/** A test that needs the browser; it is skipped on a machine without one. */
export const test = existsSync(EXECUTABLE) ? run : (name) => run(name, { skip: `there is no ${EXECUTABLE}` });

/** One browser for all tests of a file; each page has its own profile. */
export function useBrowser() {
  let browser;
  before(async () => {
    if (existsSync(EXECUTABLE)) browser = await chromium.launch({ executablePath: EXECUTABLE, args: ARGUMENTS });
  });
  after(() => browser?.close());
  return async (t, options) => {
    const context = await browser.newContext(options);
    t.after(() => context.close());
    const page = await context.newPage();
    page.setDefaultTimeout(10_000);
    return page;
  };
}

/**
 * Opens coop's origin with the generated client as the global `client`. The script comes from the
 * same origin, as the page's content security policy requires.
 */
export async function openClient(page, origin, token) {
  const script = await bundled("client.ts");
  await page.route(`${origin}/client.js`, (route) => route.fulfill({ contentType: "text/javascript", body: script }));
  await page.goto(origin);
  await page.evaluate(loadClient, { origin, token });
}

/** Runs in the page: loads the client and functions that wait for the screen. */
export async function loadClient({ origin, token }) {
  const coop = await import("/client.js");
  const client = coop.connect(origin, token);
  // Leaving the loop does not end the call, and a browser allows only six open calls.
  const until = async (stream, done) => {
    const over = new AbortController();
    const late = setTimeout(() => over.abort(new Error("waited too long")), 20_000);
    try {
      for await (const message of stream({ signal: over.signal })) if (done(message)) return message;
      throw new Error("the stream has ended");
    } finally {
      clearTimeout(late);
      over.abort();
    }
  };
  const rowsUntil = async (done) => (await until((o) => client.streamScreen({}, o), ({ lines }) => done(lines))).lines;
  // The code and text of the error that a call must fail with.
  const refusal = async (call) => {
    try {
      await call;
    } catch (error) {
      const { code, rawMessage } = coop.ConnectError.from(error);
      return { code: coop.Code[code], message: rawMessage };
    }
    throw new Error("the call was not refused");
  };
  Object.assign(globalThis, { client, until, rowsUntil, refusal });
}

export async function bundled(name) {
  const entry = join(import.meta.dirname, "..", "src", name);
  const { outputFiles } = await build({ entryPoints: [entry], bundle: true, format: "esm", write: false });
  return outputFiles[0].text;
}
