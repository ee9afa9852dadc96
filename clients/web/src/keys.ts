// What a key press means to a terminal: the name that coop knows the key by. What has no name here
// is text, or belongs to the browser.

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

/** Keys that have a control code. Not among them: V, by which browsers paste, and what zooms. */
const CONTROL = /^[a-uw-z@[\\^_ ]$/i;

type Press = Pick<KeyboardEvent, "key" | "ctrlKey" | "altKey" | "shiftKey" | "metaKey" | "isComposing"> & {
  getModifierState(name: string): boolean;
};

/**
 * Tab belongs to the terminal, so something else must lead out of it: the same key that leaves
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
  // Where Alt composes other characters, the character is already there and is text.
  return altKey && /^[!-~]$/.test(key) ? prefixed(key, false, true, false) : undefined;
}

function prefixed(name: string, ctrl: boolean, alt: boolean, shift: boolean): string {
  return `${ctrl ? "Ctrl-" : ""}${alt ? "Alt-" : ""}${shift ? "Shift-" : ""}${name}`;
}
