// The page: connects the coop that serves it to the screen and keyboard of the user. The other
// modules do not know each other.
import { Code, connect, type ConnectError, type GetStatusResponse, type ScreenSnapshot } from "./client";
import { listen } from "./keyboard";
import { follow, type LinkState } from "./link";
import { ScreenView } from "./screen";
import { askForToken, storedToken } from "./token";
import { Typist, type Press } from "./typist";

function element<E extends HTMLElement>(id: string, kind: new () => E): E {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`the page has no ${id}`);
  return found;
}

const main = document.querySelector("main") ?? document.body;
const title = element("title", HTMLHeadingElement);
const terminal = element("terminal", HTMLDivElement);
const keyboard = element("keyboard", HTMLTextAreaElement);
const cursor = element("cursor", HTMLDivElement);
const keys = element("keys", HTMLDivElement);
const notice = element("notice", HTMLParagraphElement);
const dialog = element("token", HTMLDialogElement);

const view = new ScreenView(terminal, element("screen", HTMLDivElement));
const typist = new Typist(() => client, callFailed);
let client = connect(location.origin, storedToken());
/** The title that the program sets, and the command it was started with. */
const names = { title: "", command: "" };
let ended = "";

void follow(() => client, { link: showLink, screen: showScreen, status: showStatus, tokenWanted });

listen(keyboard, type, () => keys.querySelector("button")?.focus());
keys.addEventListener("click", ({ target }) => {
  const key = target instanceof HTMLElement ? target.dataset["key"] : undefined;
  if (key !== undefined) type({ kind: "keys", keys: [key] });
});
terminal.addEventListener("click", () => {
  // Focusing after a click that ends a selection would clear the selection.
  if (getSelection()?.isCollapsed !== false) keyboard.focus({ preventScroll: true });
});
element("fit", HTMLButtonElement).addEventListener("click", () => {
  const { paddingLeft, paddingTop } = getComputedStyle(terminal);
  const around = (padding: string): number => 2 * Number.parseFloat(padding);
  const size = view.cellsWithin(main.clientWidth - around(paddingLeft), main.clientHeight - around(paddingTop));
  client.resize(size).catch(callFailed);
});
keyboard.focus();

function type(press: Press): void {
  // The notice of a failed call is obsolete once the user types again.
  if (notice.dataset["kind"] === "failed") showEnd();
  cursor.scrollIntoView({ block: "nearest", inline: "nearest" });
  typist.press(press);
}

function showScreen(snapshot: ScreenSnapshot): void {
  view.show(snapshot);
  fact("size", `${snapshot.cols} × ${snapshot.rows}`);
  names.title = snapshot.title;
  showNames();
}

function showStatus(status: GetStatusResponse): void {
  fact("process", status.state, status.state);
  fact("agent", status.agentState, status.agentState);
  names.command = status.name ?? status.command.join(" ");
  showNames();
  const was = ended;
  ended = status.state === "exited" ? describeEnd(status) : "";
  if (ended !== was) showEnd();
}

function showEnd(): void {
  showNotice(ended, ended === "" ? "" : "exited");
}

function describeEnd({ exitCode, exitSignal }: GetStatusResponse): string {
  if (exitSignal !== undefined) return `The program was ended by signal ${exitSignal}.`;
  if (exitCode !== undefined) return `The program exited with code ${exitCode}.`;
  return "The program has ended.";
}

function showNames(): void {
  const text = names.title || names.command || "Terminal";
  if (title.textContent !== text) title.textContent = text;
  document.title = `${text} · coop`;
}

/** Text is replaced only if it changed, because screen readers announce every replacement. */
function fact(id: string, text: string, state = ""): void {
  const shown = element(id, HTMLElement);
  if (shown.textContent !== text) shown.textContent = text;
  shown.dataset["state"] = state;
}

function showLink(state: LinkState): void {
  document.body.classList.toggle("live", state.kind === "live");
  switch (state.kind) {
    case "connecting":
      showNotice("Connecting…");
      break;
    case "live":
      showEnd();
      break;
    case "lost":
      showNotice(`Not connected: ${state.why}. Trying again in ${state.retryInSeconds} s.`, "lost");
      break;
  }
}

function callFailed(error: ConnectError): void {
  const why = error.code === Code.Unauthenticated ? "the token is no longer accepted" : error.rawMessage;
  showNotice(`Not sent: ${why}.`, "failed");
}

function showNotice(text: string, kind = ""): void {
  if (notice.textContent !== text) notice.textContent = text;
  notice.dataset["kind"] = kind;
}

async function tokenWanted(): Promise<void> {
  await askForToken(dialog);
  client = connect(location.origin, storedToken());
  keyboard.focus();
}
