import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

const startLimitMs = 60_000;
const endLimitMs = 5_000;

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** A web app that somebody else wrote, in a process of its own. */
export type StartedApp = { url: string; close(): Promise<void> };

/** Starts a Node program that serves `url`; returns when that answers. It ends also when this process does. */
export async function startApp(
  url: string,
  args: readonly string[],
  options: { cwd?: string; env?: Readonly<Record<string, string>> } = {},
): Promise<StartedApp> {
  const child = spawn(process.execPath, [...args], {
    stdio: "ignore",
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
  });
  const ended = once(child, "exit");
  const killNow = (): void => {
    child.kill("SIGKILL");
  };
  process.once("exit", killNow);
  const close = async (): Promise<void> => {
    child.kill("SIGTERM");
    const timer = setTimeout(killNow, endLimitMs);
    await ended;
    clearTimeout(timer);
    process.off("exit", killNow);
  };
  const deadline = Date.now() + startLimitMs;
  const answers = (): Promise<boolean> =>
    fetch(url).then(
      (response) => response.ok,
      () => false,
    );
  while (!(await answers())) {
    if (Date.now() > deadline || child.exitCode !== null) {
      await close();
      throw new Error(`Nothing answered on ${url} within ${startLimitMs} ms: node ${args.join(" ")}`);
    }
    await pause(100);
  }
  return { url, close };
}
