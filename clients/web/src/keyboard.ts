// Listens to the terminal's input field, a text field so that input methods, touch keyboards and
// screen readers work. Text is taken out of the field at once.
import { isLeaving, keyName } from "./keys";
import type { Press } from "./typist";

export function listen(field: HTMLTextAreaElement, press: (press: Press) => void, leave: () => void): void {
  const take = (): void => {
    const text = field.value.replaceAll("\n", "\r");
    field.value = "";
    if (text !== "") press({ kind: "text", text });
  };

  field.addEventListener("keydown", (event) => {
    if (isLeaving(event)) {
      event.preventDefault();
      leave();
      return;
    }
    const name = keyName(event);
    if (name === undefined) return;
    event.preventDefault();
    press({ kind: "keys", keys: [name] });
  });
  field.addEventListener("input", (event) => {
    if (!(event instanceof InputEvent && event.isComposing)) take();
  });
  field.addEventListener("compositionstart", () => field.classList.add("composing"));
  field.addEventListener("compositionend", () => {
    field.classList.remove("composing");
    take();
  });
  field.addEventListener("paste", (event) => {
    event.preventDefault();
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (text !== "") press({ kind: "paste", text });
  });
}
