// Maps key presses to coop's key names. A press without a name is text, or is left to the browser.

const NAMED: Readonly<Record<string, string>> = {
  Enter: "Enter",
  Tab: "Tab",
  Backspace: "Backspace",
  Escape: "Escape",
  ArrowUp: "Up",
  ArrowDown: "Down",
  ArrowLeft: "Left",
  ArrowRight: "Right",
  Home: "Home",
  End: "End",
  PageUp: "PageUp",
  PageDown: "PageDown",
  Insert: "Insert",
  Delete: "Delete",
};

/** Keys with a control code, except V, which pastes in browsers, and the keys that zoom. */
const CONTROL = /^[a-uw-z@[\\^_ ]$/i;

type Press = Pick<KeyboardEvent, "key" | "ctrlKey" | "altKey" | "shiftKey" | "metaKey" | "isComposing"> & {
  getModifierState(name: string): boolean;
};

/**
 * Tab is sent to the terminal, so another key moves the focus out of it: Ctrl-], as in
 * `coop attach`.
 */
export function isLeaving(press: Press): boolean {
  return press.ctrlKey && !press.altKey && !press.shiftKey && press.key === "]";
}

export function keyName(press: Press): string | undefined {
  if (press.isComposing || press.metaKey || press.getModifierState("AltGraph")) return undefined;
  const { key, ctrlKey, altKey, shiftKey } = press;
  if (shiftKey && key === "Insert") return undefined;
  const name = NAMED[key] ?? (/^F([1-9]|1[0-2])$/.test(key) ? key : undefined);
  if (name !== undefined) return prefixed(name, ctrlKey, altKey, shiftKey);
  if (ctrlKey) {
    const sent = CONTROL.test(key) && !shiftKey;
    return sent ? prefixed(key === " " ? "Space" : key.toLowerCase(), true, altKey, false) : undefined;
  }
  // Where Alt composes other characters, `key` is already the composed character, which is text.
  return altKey && /^[!-~]$/.test(key) ? prefixed(key, false, true, false) : undefined;
}

function prefixed(name: string, ctrl: boolean, alt: boolean, shift: boolean): string {
  return `${ctrl ? "Ctrl-" : ""}${alt ? "Alt-" : ""}${shift ? "Shift-" : ""}${name}`;
}
