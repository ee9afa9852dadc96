// The generated client in a real browser, against a real coop: unary calls and streams over grpc-web.
import assert from "node:assert/strict";
import { openClient, test, useBrowser } from "./browser.mjs";
import { startCoop } from "./coop.mjs";

/* global client, until, rowsUntil, refusal -- in the page, put there by loadClient */

const newPage = useBrowser();

test("type, read, resize, signal, exit", async (t) => {
  const { origin } = await startCoop(t);
  const page = await newPage(t);
  await openClient(page, origin);
  const type = (text) => page.evaluate((text) => client.sendInput({ text, enter: true }), text);
  const row = (wanted) => page.evaluate((wanted) => rowsUntil((rows) => rows.includes(wanted)), wanted);

  assert.equal((await type("echo hi")).bytesWritten, "echo hi\r".length);
  await row("hi");
  const screen = await page.evaluate(() => client.getScreen({}));
  assert.ok(screen.lines.includes("$ echo hi") && screen.lines.includes("hi"));
  assert.deepEqual([screen.cols, screen.rows], [200, 50]);

  const size = await page.evaluate(() => client.resize({ cols: 101, rows: 33 }));
  assert.deepEqual([size.cols, size.rows], [101, 33]);
  await type("stty size");
  await row("33 101");

  // Input before the shell hands the terminal to cat could be echoed by either of them.
  await type("echo re''ady; cat");
  await row("ready");
  await type("meow");
  await page.evaluate(() => rowsUntil((rows) => rows.filter((row) => row === "meow").length === 2));
  assert.ok((await page.evaluate(() => client.sendSignal({ signal: "INT" }))).delivered);
  await page.evaluate(() => rowsUntil((rows) => rows.findLast((row) => row !== "") === "$"));
  await type('echo "status $?"');
  await row("status 130");

  const exit = page.evaluate(async () => {
    const exits = (options) => client.streamEvents({ types: ["exit"] }, options);
    return (await until(exits, (event) => event.payload.case === "exit")).payload.value.code;
  });
  await type("exit 7");
  assert.equal(await exit, 7);
  const status = await page.evaluate(() => client.getStatus({}));
  assert.deepEqual([status.state, status.exitCode], ["exited", 7]);
  const late = await page.evaluate(() => refusal(client.sendInput({ text: "too late" })));
  assert.equal(late.code, "NotFound");
});

test("an output stream has every byte and ends with the child", async (t) => {
  const { origin } = await startCoop(t, { command: ["sh", "-c", "seq 1 20000; read line; echo got $line"] });
  const page = await newPage(t);
  await openClient(page, origin);
  const text = await page.evaluate(async () => {
    const decoder = new TextDecoder();
    let text = "";
    let next = 0n;
    for await (const chunk of client.streamOutput({}, { signal: AbortSignal.timeout(20_000) })) {
      if (chunk.offset !== next || chunk.skipped !== 0n) throw new Error("bytes are missing from the output");
      next = chunk.nextOffset;
      text += decoder.decode(chunk.data, { stream: true });
      if (text.endsWith("20000\r\n")) void client.sendInput({ text: "it", enter: true });
    }
    return text;
  });
  const numbers = Array.from({ length: 20_000 }, (_, index) => `${index + 1}\r\n`).join("");
  assert.equal(text, `${numbers}it\r\ngot it\r\n`);
});

test("an invalid request is refused with its name, and types nothing", async (t) => {
  const { origin } = await startCoop(t, { command: ["cat"] });
  const page = await newPage(t);
  await openClient(page, origin);
  const refused = (method, request) =>
    page.evaluate(([method, request]) => refusal(client[method](request)), [method, request]);

  const key = await refused("sendKeys", { keys: ["Enter", "Hyperspace"] });
  assert.equal(key.code, "InvalidArgument");
  assert.match(key.message, /Hyperspace/);
  assert.equal((await refused("resize", { cols: 0, rows: 65_535 })).code, "InvalidArgument");
  assert.equal((await refused("sendSignal", { signal: "SIGNONE" })).code, "InvalidArgument");
  assert.equal((await refused("nudge", { message: "hello" })).code, "Unimplemented");
  assert.equal(await page.evaluate(async () => Number((await client.getStatus({})).bytesWritten)), 0);
});

test("without the token only the health is readable", async (t) => {
  const { origin } = await startCoop(t, { options: ["--host", "127.0.0.1"], env: { COOP_AUTH_TOKEN: "open-sesame" } });
  for (const token of [undefined, "", "wrong", "open-sesame2"]) {
    const page = await newPage(t);
    await openClient(page, origin, token);
    const codes = await page.evaluate(async () => {
      const screen = until((options) => client.streamScreen({}, options), () => true);
      const refusals = [client.getScreen({}), client.sendInput({ text: "no" }), screen];
      return Promise.all(refusals.map(async (call) => (await refusal(call)).code));
    });
    assert.deepEqual(codes, ["Unauthenticated", "Unauthenticated", "Unauthenticated"], `token ${token}`);
    assert.equal(await page.evaluate(async () => (await client.getHealth({})).status), "running");
  }
  const page = await newPage(t);
  await openClient(page, origin, "open-sesame");
  await page.evaluate(() => client.sendInput({ text: "echo let in", enter: true }));
  await page.evaluate(() => rowsUntil((rows) => rows.includes("let in")));
});
