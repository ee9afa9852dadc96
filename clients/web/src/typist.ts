// Sends typed input in order, one call at a time. It does not know the keyboard, nor how the page
// shows a failed call.
import { ConnectError, type CoopClient } from "./client";

export type Press =
  | { kind: "text"; text: string }
  | { kind: "paste"; text: string }
  | { kind: "keys"; keys: string[] };

export class Typist {
  readonly #client: () => CoopClient;
  readonly #failed: (error: ConnectError) => void;
  #waiting: Press[] = [];
  #sending = false;

  constructor(client: () => CoopClient, failed: (error: ConnectError) => void) {
    this.#client = client;
    this.#failed = failed;
  }

  press(press: Press): void {
    const last = this.#waiting.at(-1);
    if (last?.kind === "text" && press.kind === "text") {
      last.text += press.text;
    } else if (last?.kind === "keys" && press.kind === "keys") {
      last.keys.push(...press.keys);
    } else {
      this.#waiting.push(press);
    }
    if (!this.#sending) void this.#send();
  }

  async #send(): Promise<void> {
    this.#sending = true;
    try {
      for (let press = this.#waiting.shift(); press !== undefined; press = this.#waiting.shift()) {
        await call(this.#client(), press);
      }
    } catch (error) {
      // Input after a lost part would be misunderstood, so it is dropped.
      this.#waiting = [];
      this.#failed(ConnectError.from(error));
    } finally {
      this.#sending = false;
    }
  }
}

async function call(client: CoopClient, press: Press): Promise<void> {
  switch (press.kind) {
    case "text":
      await client.sendInputRaw({ data: new TextEncoder().encode(press.text) });
      break;
    case "paste":
      await client.sendInput({ text: press.text });
      break;
    case "keys":
      await client.sendKeys({ keys: press.keys });
      break;
  }
}
