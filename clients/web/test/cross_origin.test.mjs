// Pages of other origins, in a real browser: their requests must not reach the terminal.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { bundled, loadClient, openClient, test, useBrowser } from "./browser.mjs";
import { startCoop } from "./coop.mjs";

/* global client, refusal -- in the page, put there by loadClient */

const newPage = useBrowser();

test("a page of another origin can neither call, nor type, nor listen", async (t) => {
  const { origin } = await startCoop(t);
  const page = await newPage(t);
  await page.goto(await serveOtherOrigin(t));
  await page.evaluate(loadClient, { origin });

  // A call with its own content type needs a CORS preflight.
  const read = await page.evaluate(() => refusal(client.getScreen({})));
  assert.notEqual(read.code, undefined);
  // A plain form's POST needs none, so the browser sends it. coop's answer is for its own origin, so
  // the page does not even learn that there was one.
  const posted = await page.evaluate((origin) => {
    const body = JSON.stringify({ text: "echo intruder", enter: true });
    const sent = fetch(`${origin}/api/v1/input`, { method: "POST", mode: "no-cors", body });
    return sent.then(() => "answered", () => "blocked");
  }, origin);
  assert.equal(posted, "blocked");
  assert.equal(await page.evaluate(socketOutcome, origin.replace("http", "ws")), "refused");
  await assertUntouched(t, origin);
});

test("a page with the origin null can neither call nor type", async (t) => {
  const { origin } = await startCoop(t);
  const page = await newPage(t);
  await page.goto(await serveOtherOrigin(t));
  // Playwright does not show the responses of a frame in another process; the console message does.
  const message = page.waitForEvent("console", (entry) => entry.location().url === `${origin}/api/v1/input`);
  await page.evaluate((origin) => {
    const frame = document.createElement("iframe");
    frame.sandbox = "allow-scripts";
    frame.srcdoc = `<script>fetch("${origin}/api/v1/input",
      { method: "POST", mode: "no-cors", body: '{"text":"echo intruder","enter":true}' })</script>`;
    document.body.append(frame);
  }, origin);
  assert.match((await message).text(), /ERR_BLOCKED_BY_RESPONSE\.NotSameOrigin/);
  assert.equal(await page.frames()[1].evaluate(() => self.origin), "null");
  await assertUntouched(t, origin);
});

test("a page whose name resolves to this machine can neither call nor type", async (t) => {
  const { origin, port } = await startCoop(t);
  const page = await newPage(t);
  const response = await page.goto(`http://rebound.test:${port}/`);
  assert.equal(response.status(), 403);
  const status = await page.evaluate(async () => {
    const body = '{"text":"echo intruder","enter":true}';
    return (await fetch("/api/v1/input", { method: "POST", body })).status;
  });
  assert.equal(status, 403);
  await assertUntouched(t, origin);
});

test("a page of an allowed origin can call", async (t) => {
  const otherPage = await serveOtherOrigin(t);
  const { origin } = await startCoop(t, { options: ["--allow-origin", new URL(otherPage).origin] });
  const page = await newPage(t);
  await page.goto(otherPage);
  await page.evaluate(loadClient, { origin });
  assert.equal(await page.evaluate(async () => (await client.getStatus({})).state), "running");
  // An error's code is in headers, which a browser hides from other origins unless they are exposed.
  const refused = await page.evaluate(() => refusal(client.sendKeys({ keys: ["Hyperspace"] })));
  assert.equal(refused.code, "InvalidArgument");
});

async function serveOtherOrigin(t) {
  const script = await bundled("client.ts");
  const server = createServer((request, response) => {
    const [type, body] = request.url === "/client.js" ? ["text/javascript", script] : ["text/html", "<body></body>"];
    response.writeHead(200, { "content-type": type }).end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${server.address().port}/`;
}

/** Runs in the page: whether a WebSocket opens. */
function socketOutcome(origin) {
  return new Promise((resolve) => {
    const socket = new WebSocket(`${origin}/ws`);
    socket.onopen = () => resolve("open");
    socket.onerror = () => resolve("refused");
  });
}

async function assertUntouched(t, origin) {
  const page = await newPage(t);
  await openClient(page, origin);
  const status = await page.evaluate(async () => {
    const { state, bytesWritten } = await client.getStatus({});
    return { state, bytesWritten: Number(bytesWritten) };
  });
  assert.deepEqual(status, { state: "running", bytesWritten: 0 });
}
