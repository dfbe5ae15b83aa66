import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { setTimeout as pause } from "node:timers/promises";
import { atMost, type RunningProgram, startProgram, untilAborted } from "@labwright/controllers";
import { type Config, loadConfig } from "../../config.ts";
import { ToolError } from "../../errors.ts";
import type { DaemonOptions } from "../options.ts";
import type { Terminal } from "../terminal.ts";

type Settings = NonNullable<Config["web_server"]>;

const askAgainMs = 200;
/** A server that takes a request and does not answer it is not ready. */
const answerMs = 5_000;
const keptBytes = 16_000;
const shownLines = 20;

/**
 * Runs `work` while the app of `web_server` in labwright.yaml is there, and ends the app and what it started however `work`
 * ends. An app that answers already is used. Throws WEB_SERVER_FAILED with the app's last output if it does not answer.
 */
export async function withWebServer<Result>(
  options: DaemonOptions,
  terminal: Terminal,
  work: () => Promise<Result>,
): Promise<Result> {
  const { env, cwd, err, signal } = terminal;
  const given = { config: options.config, data_dir: options.dataDir };
  const settings = loadConfig({ command: "run", options: given, env, cwd }).web_server;
  if (settings === undefined) return work();
  if (await answers(settings.url, signal)) {
    err(`web server: ${settings.url} is running already, and is used\n`);
    return work();
  }
  const server = start(settings, env);
  try {
    await untilReady(settings, server, signal);
    const result = await work();
    // The app may have ended before the tests did, which explains their failures.
    if (!signal.aborted && !(await answers(settings.url, signal)))
      err(`web server: ${settings.url} no longer answers after the run${server.output()}\n`);
    return result;
  } finally {
    await server.program.end();
  }
}

type Server = { program: RunningProgram; output(): string };

/** The command is the user's own line, for their shell. */
function start({ command, folder }: Settings, env: Terminal["env"]): Server {
  const [shell, ...args] = process.platform === "win32" ? ["cmd.exe", "/d", "/s", "/c"] : ["/bin/sh", "-c"];
  const program = startProgram(shell ?? "", [...args, command], { cwd: folder, env: { ...env } });
  const { child } = program;
  let kept = "";
  const keep = (part: Buffer) => {
    kept = `${kept}${part.toString("utf8")}`.slice(-keptBytes);
  };
  child.stdout?.on("data", keep);
  child.stderr?.on("data", keep);
  return {
    program,
    output() {
      const lines = kept.trim().split("\n").slice(-shownLines).join("\n");
      return lines === "" ? "; it wrote nothing" : `; its last output:\n${lines}`;
    },
  };
}

async function untilReady(settings: Settings, server: Server, signal: AbortSignal): Promise<void> {
  const { url, timeout_ms: timeoutMs, command } = settings;
  const { child } = server.program;
  const hint = `Correct web_server in labwright.yaml, or start the app by hand: ${command}`;
  const over = new AbortController();
  // "close" comes when all output has been read, "exit" may come before.
  const ended = once(child, "close", { signal: over.signal }).then(([code, by]) => {
    const how = code === null ? `by ${by}` : `with code ${code}`;
    throw new ToolError(
      "WEB_SERVER_FAILED",
      `The web server ended ${how} before ${url} answered${server.output()}`,
      hint,
    );
  });
  ended.catch(() => undefined);
  const late = atMost(signal, timeoutMs);
  try {
    await untilAborted(Promise.race([ended, untilAnswered(url, AbortSignal.any([late, over.signal]))]), late);
  } catch (error) {
    if (error instanceof ToolError || signal.aborted) throw error;
    const message = `${url} did not answer within ${timeoutMs / 1_000} s${server.output()}`;
    throw new ToolError("WEB_SERVER_FAILED", message, hint);
  } finally {
    over.abort();
  }
}

async function untilAnswered(url: string, signal: AbortSignal): Promise<void> {
  while (!(await answers(url, signal))) await pause(askAgainMs, undefined, { signal });
}

/** Whether a page is served there: a server that is not ready yet says 404 or 5xx. */
function answers(url: string, caller: AbortSignal): Promise<boolean> {
  const signal = atMost(caller, answerMs);
  const ask = url.startsWith("https:") ? httpsRequest : httpRequest;
  return new Promise((resolve) => {
    // A certificate of the developer's own is not a reason to start a second server.
    const request = ask(url, { signal, rejectUnauthorized: false, agent: false }, (response) => {
      response.destroy();
      resolve((response.statusCode ?? 500) < 404);
    });
    request.once("error", () => resolve(false));
    request.end();
  });
}
