// The page as a user sees it: in a real browser, by keyboard, against a real coop.
import assert from "node:assert/strict";
import { test, useBrowser } from "./browser.mjs";
import { startCoop } from "./coop.mjs";

const newPage = useBrowser();

test("it shows the screen, and typing works", async (t) => {
  const { origin } = await startCoop(t);
  const page = await openPage(t, origin);
  await untilRow(page, /^\$ ?$/);
  assert.equal(await page.textContent("#process"), "running");
  assert.equal(await page.textContent("#agent"), "unknown");
  assert.equal(await page.textContent("#size"), "200 × 50");

  // The terminal has the focus at the start; text, named keys and control keys keep their order.
  await page.keyboard.type("echo wroong");
  for (let count = 0; count < 3; count++) await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Backspace");
  await page.keyboard.press("Control+e");
  await page.keyboard.type(" ünï€ “é”");
  await page.keyboard.press("Enter");
  await untilRow(page, /^wrong ünï€ “é”$/);

  await page.keyboard.type("echo re''ady; cat");
  await page.keyboard.press("Enter");
  await untilRow(page, /^ready$/);
  await page.keyboard.type("in cat");
  await untilRow(page, /^in cat$/);
  await page.keyboard.press("Control+c");
  await untilRow(page, /^in cat\^C$/);
  await page.keyboard.type("printf '\\033]0;a <b>title</b>\\007'");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector("h1").textContent === "a <b>title</b>");
  assert.equal(await page.title(), "a <b>title</b> · coop");
});

test("the page stays responsive during much output, and Ctrl-C stops it", async (t) => {
  const { origin } = await startCoop(t);
  const page = await openPage(t, origin);
  await page.keyboard.type("yes flood");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => [...document.querySelectorAll("#screen > div")].at(-2)?.textContent === "flood");
  await page.keyboard.press("Control+c");
  await page.keyboard.type("echo dry");
  await page.keyboard.press("Enter");
  await untilRow(page, /^dry$/);
});

test("a paste arrives as one piece and runs only after Enter", async (t) => {
  const { origin } = await startCoop(t);
  const page = await openPage(t, origin);
  await untilRow(page, /^\$ ?$/);
  await page.evaluate(() => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", "echo one\necho two");
    document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData, cancelable: true }));
  });
  await untilRow(page, /^(> )?echo two$/);
  assert.ok(!(await rows(page)).includes("one"), "the first line ran before Enter");
  await page.keyboard.press("Enter");
  await untilRow(page, /^two$/);
  assert.ok((await rows(page)).includes("one"));
});

test("output is never markup and has the colours of its escape sequences", async (t) => {
  const printed = [
    "\\033[1;3;4;9;31mstyled\\033[0m\\n",
    "\\033[7minverse\\033[0m\\n",
    "\\033[38;5;208mindexed\\033[0m\\n",
    "\\033[48;2;1;2;3mdirect\\033[0m\\n",
    "<img src=x onerror=alert(1)>&amp;\\n",
    "日本x\\n",
  ];
  const { origin } = await startCoop(t, { command: ["sh", "-c", `printf '${printed.join("")}'; exec cat`] });
  const page = await openPage(t, origin);
  await untilRow(page, /^日本x$/);
  assert.ok((await rows(page)).includes("<img src=x onerror=alert(1)>&amp;"));
  assert.equal(await page.locator("#screen img").count(), 0);
  const look = (text, property) =>
    page
      .locator("#screen span", { hasText: text })
      .first()
      .evaluate((span, property) => getComputedStyle(span)[property], property);
  assert.equal(await look("styled", "fontWeight"), "700");
  assert.equal(await look("styled", "fontStyle"), "italic");
  assert.equal(await look("styled", "textDecorationLine"), "underline line-through");
  assert.equal(await look("styled", "color"), "rgb(224, 100, 92)");
  assert.equal(await look("inverse", "color"), "rgb(30, 30, 30)");
  assert.equal(await look("inverse", "backgroundColor"), "rgb(216, 216, 216)");
  assert.equal(await look("indexed", "color"), "rgb(255, 135, 0)");
  assert.equal(await look("direct", "backgroundColor"), "rgb(1, 2, 3)");

  // Each is two cells wide, whatever its font; the cursor has the width of one cell.
  const widths = await page.evaluate(() => {
    const wide = [...document.querySelectorAll("#screen .wide")].map((cell) => cell.getBoundingClientRect().width);
    return { wide, cell: document.getElementById("cursor").getBoundingClientRect().width };
  });
  assert.equal(widths.wide.length, 2);
  for (const wide of widths.wide) assert.ok(Math.abs(wide - 2 * widths.cell) < 0.1, `${wide} for ${widths.cell}`);
});

test("buttons send keys, Ctrl-] leaves the terminal, and Fit resizes it", async (t) => {
  const { origin } = await startCoop(t);
  const page = await openPage(t, origin);
  await untilRow(page, /^\$ ?$/);
  // Ctrl-C discards unread input, so it is sent once the command runs.
  await page.keyboard.type("echo re''ady; sleep 1000");
  await page.keyboard.press("Enter");
  await untilRow(page, /^ready$/);
  await page.keyboard.press("Control+]");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Ctrl-C");
  await page.keyboard.press("Space");
  await untilRow(page, /^\^C$/);

  await page.getByRole("button", { name: "Fit to window" }).click();
  await page.waitForFunction(() => document.getElementById("size").textContent !== "200 × 50");
  const [cols, rows] = (await page.textContent("#size")).split(" × ");
  await page.getByRole("textbox", { name: "Terminal input" }).focus();
  await page.keyboard.type("stty size");
  await page.keyboard.press("Enter");
  await untilRow(page, new RegExp(`^${rows} ${cols}$`));
});

test("the page shows how the program ended, and that input is refused then", async (t) => {
  const { origin } = await startCoop(t);
  const page = await openPage(t, origin);
  await page.keyboard.type("exit 3");
  await page.keyboard.press("Enter");
  await untilNotice(page, /exited with code 3/);
  assert.equal(await page.textContent("#process"), "exited");
  await page.keyboard.type("x");
  await untilNotice(page, /^Not sent: /);
  // A page that is opened later shows the same.
  await untilNotice(await openPage(t, origin), /exited with code 3/);
});

test("the page asks for the token and keeps it in the tab only", async (t) => {
  const { origin } = await startCoop(t, { options: ["--host", "127.0.0.1"], env: { COOP_AUTH_TOKEN: "open-sesame" } });
  const page = await openPage(t, origin);
  const field = page.getByLabel("Token", { exact: true });
  await field.waitFor();
  assert.equal(await page.getByRole("alert").count(), 0);
  assert.equal((await page.textContent("#screen")).trim(), "");
  // The dialog cannot be dismissed.
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await field.fill("wrong");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").waitFor();
  await field.fill("open-sesame");
  await page.keyboard.press("Enter");
  await untilRow(page, /^\$ ?$/);
  await page.keyboard.type("echo let in");
  await page.keyboard.press("Enter");
  await untilRow(page, /^let in$/);

  assert.equal(page.url(), `${origin}/`);
  assert.deepEqual(await page.evaluate(() => [localStorage.length, document.cookie]), [0, ""]);
  await page.reload();
  await untilRow(page, /^let in$/);
  const elsewhere = await openPage(t, origin);
  await elsewhere.getByLabel("Token", { exact: true }).waitFor();
});

test("the page shows a lost connection and reconnects by itself", async (t) => {
  const first = await startCoop(t);
  const page = await openPage(t, first.origin, { offline: true });
  await untilRow(page, /^\$ ?$/);
  await first.stop();
  await untilNotice(page, /^Not connected: .+ Trying again in /);
  await startCoop(t, { port: first.port, command: ["sh", "-c", "echo a new coop; exec cat"] });
  await untilRow(page, /^a new coop$/);
  await untilNotice(page, /^$/);
});

test("a hidden tab closes its connections", async (t) => {
  const { origin } = await startCoop(t);
  const page = await openPage(t, origin);
  await untilRow(page, /^\$ ?$/);
  const turn = (hidden) =>
    page.evaluate((hidden) => {
      Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, hidden);
  const streams = ["StreamScreen", "StreamEvents"].map((name) =>
    page.waitForEvent("requestfailed", (request) => request.url().endsWith(`/${name}`)),
  );
  await turn(true);
  await Promise.all(streams);
  await page.keyboard.type("echo seen again");
  await page.keyboard.press("Enter");
  await turn(false);
  await untilRow(page, /^seen again$/);
});

/** Opens the page; an error in it, or a violation of its content security policy, fails the test. */
async function openPage(t, origin, { offline = false } = {}) {
  const page = await newPage(t);
  const problems = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => {
    // The browser logs each refused call; the tests provoke those.
    const expected = message.location().url.includes("/coop.v1.Coop/") && (offline || !/policy/i.test(message.text()));
    if (["error", "warning"].includes(message.type()) && !expected) problems.push(message.text());
  });
  t.after(() => assert.deepEqual(problems, []));
  const response = await page.goto(`${origin}/`);
  assert.match(response.headers()["content-security-policy"] ?? "", /default-src 'none'/);
  return page;
}

function rows(page) {
  return page.evaluate(() => [...document.querySelectorAll("#screen > div")].map((row) => row.textContent));
}

async function untilRow(page, pattern) {
  const shown = (pattern) => [...document.querySelectorAll("#screen > div")].some((row) => pattern.test(row.textContent));
  await page.waitForFunction(shown, pattern).catch(async (error) => {
    const seen = (await rows(page)).filter((row) => row !== "");
    throw new Error(`${pattern} did not appear; the screen shows ${JSON.stringify(seen)}`, { cause: error });
  });
}

async function untilNotice(page, pattern) {
  await page.waitForFunction((pattern) => pattern.test(document.getElementById("notice").textContent), pattern);
}
