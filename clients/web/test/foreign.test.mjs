// Pages of other origins, in a real browser: what they send must not reach the terminal, whatever
// the browser lets them send.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { bundled, loadClient, openClient, test, useBrowser } from "./browser.mjs";
import { startCoop } from "./coop.mjs";

/* global client, refusal -- in the page, put there by loadClient */

const newPage = useBrowser();

test("a foreign page can neither call, nor type, nor listen", async (t) => {
  const { origin } = await startCoop(t);
  const page = await newPage(t);
  await page.goto(await serveForeignPage(t));
  await page.evaluate(loadClient, { origin });

  // A call with a content type of its own needs the browser's permission first.
  const read = await page.evaluate(() => refusal(client.getScreen({})));
  assert.notEqual(read.code, undefined);
  // A plain form's post needs none, and goes out.
  const posted = page.waitForResponse(`${origin}/api/v1/input`);
  await page.evaluate((origin) => {
    const body = JSON.stringify({ text: "echo intruder", enter: true });
    return fetch(`${origin}/api/v1/input`, { method: "POST", mode: "no-cors", body });
  }, origin);
  assert.equal((await posted).status(), 403);
  assert.equal(await page.evaluate(socketOutcome, origin.replace("http", "ws")), "refused");
  await assertUntouched(t, origin);
});

test("nor can a page without an origin", async (t) => {
  const { origin } = await startCoop(t);
  const page = await newPage(t);
  await page.goto(await serveForeignPage(t));
  // Playwright does not show what a frame of its own process gets; the browser's complaint does.
  const complaint = page.waitForEvent("console", (message) => message.location().url === `${origin}/api/v1/input`);
  await page.evaluate((origin) => {
    const frame = document.createElement("iframe");
    frame.sandbox = "allow-scripts";
    frame.srcdoc = `<script>fetch("${origin}/api/v1/input",
      { method: "POST", mode: "no-cors", body: '{"text":"echo intruder","enter":true}' })</script>`;
    document.body.append(frame);
  }, origin);
  assert.match((await complaint).text(), /\b403\b/);
  assert.equal(await page.frames()[1].evaluate(() => self.origin), "null");
  await assertUntouched(t, origin);
});

test("nor can a page whose name was made to mean this machine", async (t) => {
  const { origin, port } = await startCoop(t);
  const page = await newPage(t);
  const answer = await page.goto(`http://rebound.test:${port}/`);
  assert.equal(answer.status(), 403);
  const status = await page.evaluate(async () => {
    const body = '{"text":"echo intruder","enter":true}';
    return (await fetch("/api/v1/input", { method: "POST", body })).status;
  });
  assert.equal(status, 403);
  await assertUntouched(t, origin);
});

test("a foreign origin that is allowed can call", async (t) => {
  const foreign = await serveForeignPage(t);
  const { origin } = await startCoop(t, { options: ["--allow-origin", new URL(foreign).origin] });
  const page = await newPage(t);
  await page.goto(foreign);
  await page.evaluate(loadClient, { origin });
  assert.equal(await page.evaluate(async () => (await client.getStatus({})).state), "running");
  // An error's code travels in headers, which a browser shows a foreign page only if told to.
  const refused = await page.evaluate(() => refusal(client.sendKeys({ keys: ["Hyperspace"] })));
  assert.equal(refused.code, "InvalidArgument");
});

async function serveForeignPage(t) {
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

/** In the page: whether a WebSocket opens. */
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
