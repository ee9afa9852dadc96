// Keeps the token in sessionStorage until the tab is closed. It is never part of the URL, which
// histories and logs keep.

const KEY = "coop-token";

export function storedToken(): string | undefined {
  return sessionStorage.getItem(KEY) ?? undefined;
}

/** Asks for a token and stores it. The dialog cannot be dismissed, because every call needs it. */
export function askForToken(dialog: HTMLDialogElement): Promise<void> {
  const form = dialog.querySelector("form");
  const field = dialog.querySelector("input");
  const refused = dialog.querySelector<HTMLElement>("[role=alert]");
  if (form === null || field === null || refused === null) throw new Error("the page has no token dialog");
  refused.hidden = storedToken() === undefined;
  field.value = "";
  dialog.showModal();
  return new Promise((resolve) => {
    const answered = new AbortController();
    const { signal } = answered;
    dialog.addEventListener("close", () => dialog.showModal(), { signal });
    form.addEventListener(
      "submit",
      (event) => {
        event.preventDefault();
        sessionStorage.setItem(KEY, field.value);
        field.value = "";
        answered.abort();
        dialog.close();
        resolve();
      },
      { signal },
    );
  });
}
