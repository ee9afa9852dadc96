// Starts real coops for the tests. It knows the binary's command line and its first output line.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

const BINARY = resolve(import.meta.dirname, "..", process.env.COOP_BIN ?? "../../target/debug/coop");
const DEADLINE = 10_000;

const SHELL = ["env", "PS1=$ ", "bash", "--norc", "--noprofile"];

/** Starts a coop on its own port and stops it after the test `t`. */
export async function startCoop(t, { port = 0, options = [], command = SHELL, env = {} } = {}) {
  const home = await mkdtemp(join(tmpdir(), "coop-test-"));
  const arguments_ = ["--port", String(port), "--log-level", "warn", ...options, "--", ...command];
  const child = spawn(BINARY, arguments_, {
    env: { ...process.env, XDG_STATE_HOME: home, XDG_RUNTIME_DIR: home, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const stop = async (signal = "SIGTERM") => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await within(exited, "coop to exit");
    await rm(home, { recursive: true, force: true });
  };
  t.after(() => stop("SIGKILL"));
  const origin = await within(listening(child), "coop to listen");
  if (origin === undefined) {
    const [code, signal] = await within(exited, "coop to exit");
    throw new Error(`${BINARY} ended before it listened (${signal ?? code})`);
  }
  return { origin, port: Number(new URL(origin).port), stop };
}

async function listening(child) {
  for await (const line of createInterface({ input: child.stdout })) {
    const address = /^HTTP listening on (.+)$/.exec(line)?.[1];
    if (address !== undefined) return `http://${address}`;
  }
  return undefined;
}

/** Waits for `promise`, or fails with what did not happen. */
async function within(promise, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${DEADLINE} ms for ${what}`)), DEADLINE);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
