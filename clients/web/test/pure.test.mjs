// Tests without a browser: parsing rows and naming keys.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { bundled } from "./browser.mjs";

let parseRow, keyName, isLeaving;
before(async () => {
  const load = async (name) => import(`data:text/javascript,${encodeURIComponent(await bundled(name))}`);
  ({ parseRow } = await load("ansi.ts"));
  ({ keyName, isLeaving } = await load("keys.ts"));
});

test("a row is split into runs with the same look", () => {
  const set = (look) => Object.fromEntries(Object.entries(look).filter(([, value]) => value !== false));
  const cases = [
    ["", []],
    ["plain", [["plain", {}]]],
    ["a\x1b[0;1mb\x1b[0mc", [["a", {}], ["b", { bold: true }], ["c", {}]]],
    ["\x1b[0;2;3;4;5;7;9mx\x1b[0m", [["x", { faint: true, italic: true, underline: true, blink: true, inverse: true, strike: true }]]],
    ["\x1b[0;31;42mx", [["x", { foreground: 1, background: 2 }]]],
    ["\x1b[0;97;100mx", [["x", { foreground: 15, background: 8 }]]],
    ["\x1b[0;38;5;4;48;5;200mx", [["x", { foreground: 4, background: 200 }]]],
    ["\x1b[0;38;2;1;4;7;4mx", [["x", { foreground: { red: 1, green: 4, blue: 7 }, underline: true }]]],
    ["\x1b[0;1mone\x1b[0;4mtwo", [["one", { bold: true }], ["two", { underline: true }]]],
    ["\x1b[mx", [["x", {}]]],
  ];
  for (const [line, wanted] of cases) {
    const runs = parseRow(line).map(({ text, look }) => [text, set(look)]);
    assert.deepEqual(runs, wanted, JSON.stringify(line));
  }
});

const press = (key, ...held) => ({
  key,
  ctrlKey: held.includes("Ctrl"),
  altKey: held.includes("Alt"),
  shiftKey: held.includes("Shift"),
  metaKey: held.includes("Meta"),
  isComposing: held.includes("composing"),
  getModifierState: (name) => held.includes(name),
});

test("keys have coop's names, and browser shortcuts have none", () => {
  const cases = [
    [press("a"), undefined],
    [press("A", "Shift"), undefined],
    [press("Enter"), "Enter"],
    [press("ArrowUp"), "Up"],
    [press("ArrowLeft", "Ctrl", "Shift"), "Ctrl-Shift-Left"],
    [press("Tab", "Shift"), "Shift-Tab"],
    [press("F5"), "F5"],
    [press("F13"), undefined],
    [press("c", "Ctrl"), "Ctrl-c"],
    [press("C", "Ctrl"), "Ctrl-c"],
    [press(" ", "Ctrl"), "Ctrl-Space"],
    [press("x", "Ctrl", "Alt"), "Ctrl-Alt-x"],
    [press("b", "Alt"), "Alt-b"],
    [press("B", "Alt", "Shift"), "Alt-B"],
    [press("å", "Alt"), undefined],
    [press("@", "Ctrl", "Alt", "AltGraph"), undefined],
    [press("v", "Ctrl"), undefined],
    [press("C", "Ctrl", "Shift"), undefined],
    [press("Insert", "Shift"), undefined],
    [press("+", "Ctrl"), undefined],
    [press("c", "Meta"), undefined],
    [press("Enter", "composing"), undefined],
    [press("Process"), undefined],
    [press("Dead"), undefined],
  ];
  for (const [event, wanted] of cases) assert.equal(keyName(event), wanted, JSON.stringify(event));
  assert.ok(isLeaving(press("]", "Ctrl")));
  assert.ok(!isLeaving(press("]")));
});
