import { z } from "zod";
import { projectAt } from "../../config/places.ts";
import { ToolError } from "../../errors.ts";
import { findCaller } from "../caller.ts";
import { callTool, connectDaemon } from "../daemon.ts";
import type { DaemonOptions } from "../options.ts";
import { type ExitCode, exitCodes, type Terminal } from "../terminal.ts";

const withoutTerminal =
  "There is no terminal here, so every call is a client of its own: pass the session_id that take_control gave.";

/** Codes of a call that was invalid, so that nothing was tried. */
const misuse: ReadonlySet<string> = new Set(["INVALID_INPUT", "TOOL_NOT_FOUND", "INPUT_TOO_LARGE"]);

/**
 * `labwright call`: the result as JSON on stdout, or the failure on stderr. Exit code 0: done; 1: the tool failed; 2: it
 * could not be called. Calls of one terminal are one client, so a lease taken by one of them serves the next.
 */
export async function runCall(
  name: string,
  options: DaemonOptions & { json?: string | undefined; device?: string | undefined },
  terminal: Terminal,
): Promise<ExitCode> {
  const args = {
    ...readArguments(options.json),
    ...(options.device !== undefined && { device_id: options.device }),
  };
  const caller = findCaller();
  const attached = await connectDaemon(options, terminal, { command: "call", client: `call/${process.pid}` });
  try {
    const answer = await callTool(attached, {
      name,
      arguments: args,
      client: caller.client,
      project: projectAt(terminal.cwd),
      secrets: attached.secrets,
      traceparent: terminal.env.TRACEPARENT,
      signal: terminal.signal,
    });
    if (answer.ok) {
      terminal.out(`${JSON.stringify(answer.structured, null, 2)}\n`);
      return exitCodes.passed;
    }
    const { code, message, hint, details, trace_id } = answer.error;
    const ownLease = code === "DEVICE_HELD" && !caller.hasTerminal ? withoutTerminal : "";
    const lines = [`${code}: ${message}`, hint, ownLease, JSON.stringify(details), `trace ${trace_id}`];
    terminal.err(`${lines.filter((line) => line !== "" && line !== "{}").join("\n")}\n`);
    return misuse.has(code) ? exitCodes.error : exitCodes.failed;
  } finally {
    attached.close();
  }
}

function readArguments(json: string | undefined): Record<string, unknown> {
  if (json === undefined) return {};
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(json));
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : "it is not an object";
    throw new ToolError(
      "INVALID_INPUT",
      `--json cannot be read: ${reason}.`,
      `Give the tool's arguments as one JSON object, for example --json '{"device_id": "browser"}'.`,
    );
  }
}
