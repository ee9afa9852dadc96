// Follows one coop while the page is open: screen and status as they change, with reconnects. It
// knows the calls and not how anything is shown.
import {
  Code,
  ConnectError,
  GetScreenRequest_Format,
  type CoopClient,
  type GetStatusResponse,
  type ScreenSnapshot,
} from "./client";

export type LinkState =
  | { kind: "connecting" }
  | { kind: "live" }
  | { kind: "lost"; why: string; retryInSeconds: number };

export interface Watcher {
  link(state: LinkState): void;
  screen(snapshot: ScreenSnapshot): void;
  status(status: GetStatusResponse): void;
  /** Resolves when the user has entered a token. */
  tokenWanted(): Promise<void>;
}

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 10_000;
/** Longer than the ten seconds between heartbeats. */
const SILENCE = 30_000;

/** Runs until the page is closed. */
export async function follow(client: () => CoopClient, watcher: Watcher): Promise<never> {
  for (let pause = FIRST_PAUSE; ; ) {
    await pageShown();
    watcher.link({ kind: "connecting" });
    const end = await watch(client(), watcher, () => (pause = FIRST_PAUSE));
    if (document.hidden) continue;
    if (end.code === Code.Unauthenticated) {
      await watcher.tokenWanted();
      continue;
    }
    // Browsers' messages about a broken connection differ and name their own functions.
    const why = end.cause instanceof TypeError ? "coop does not answer" : end.rawMessage;
    watcher.link({ kind: "lost", why, retryInSeconds: pause / 1000 });
    await waitAtMost(pause);
    pause = Math.min(2 * pause, LONGEST_PAUSE);
  }
}

/** Follows until a stream fails or the page is hidden, and returns the reason. */
async function watch(client: CoopClient, watcher: Watcher, arrived: () => void): Promise<ConnectError> {
  const over = new AbortController();
  const { signal } = over;
  // Browsers limit the connections to one server over all tabs, so a hidden tab closes its own.
  document.addEventListener("visibilitychange", () => over.abort(), { signal });
  const live = (): void => {
    arrived();
    watcher.link({ kind: "live" });
  };
  try {
    await Promise.race([followScreen(client, watcher, signal, live), followEvents(client, watcher, over)]);
    return new ConnectError("the stream has ended", Code.Unavailable);
  } catch (error) {
    return ConnectError.from(error);
  } finally {
    over.abort();
  }
}

async function followScreen(
  client: CoopClient,
  watcher: Watcher,
  signal: AbortSignal,
  live: () => void,
): Promise<void> {
  let first = true;
  for await (const snapshot of client.streamScreen({ format: GetScreenRequest_Format.ANSI }, { signal })) {
    if (first) live();
    first = false;
    watcher.screen(snapshot);
  }
}

async function followEvents(client: CoopClient, watcher: Watcher, over: AbortController): Promise<void> {
  const { signal } = over;
  const silent = (): void => over.abort(new ConnectError("coop sent nothing for too long", Code.Unavailable));
  let watchdog = setTimeout(silent, SILENCE);
  try {
    const status = await client.getStatus({}, { signal });
    watcher.status(status);
    const types = ["state", "exit", "restart"];
    const since = { sinceSeq: status.eventSeq, epoch: status.epoch, types };
    for await (const event of client.streamEvents(since, { signal })) {
      clearTimeout(watchdog);
      watchdog = setTimeout(silent, SILENCE);
      // The status includes what these events report, and is never older.
      if (event.type !== "heartbeat") watcher.status(await client.getStatus({}, { signal }));
    }
  } finally {
    clearTimeout(watchdog);
  }
}

function pageShown(): Promise<void> {
  return new Promise((resolve) => {
    if (!document.hidden) return resolve();
    document.addEventListener("visibilitychange", () => resolve(), { once: true });
  });
}

/** Ends early when the network is back. */
function waitAtMost(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      removeEventListener("online", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    addEventListener("online", done);
  });
}
