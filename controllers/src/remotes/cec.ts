import { z } from "zod";
import type { DiagnosisContext, DiagnosisFinding } from "../diagnosis.ts";
import { DeviceError } from "../errors.ts";
import { findProgram, type RunningProgram, runProgram, startProgram } from "../programs/run.ts";
import { keyTables } from "./keyTables.ts";
import { defineRemote, keyMap, keysSchema, type RemoteLink } from "./remote.ts";
import { byLine, Exchange, overStreams } from "./wire/exchange.ts";
import { offline, type Place, refused } from "./wire/failures.ts";

const settings = z.strictObject({
  adapter: z
    .string()
    .regex(/^[\w./:-]{1,200}$/)
    .optional()
    .describe("Such as /dev/ttyACM0; the first one where it is left out."),
  target: z
    .int()
    .min(0)
    .max(14)
    .default(0)
    .describe("Logical address of the device: 0 is the TV, 4 the first player, 3 the first tuner."),
  keys: keysSchema,
});
type Settings = z.output<typeof settings>;

const program = "cec-client";
const install = "sudo apt-get install -y cec-utils";
/** Opening the adapter and taking an address on the bus. */
const startMs = 15_000;
/** Logical address of the type that cec-client takes with `-t r`: the first recorder. */
const own = "1";

function createLink({ adapter, target }: Settings): RemoteLink {
  const place = {
    name: `the CEC adapter${adapter === undefined ? "" : ` ${adapter}`}`,
    check: "Plug it in, or correct controllers.cec.adapter; cec-client -l lists adapters.",
  };
  const to = `${own}${target.toString(16)}`;
  let running: Console | undefined;
  const problem = (line: string): void => {
    if (/^ERROR:|autodetect FAILED|unable to open|could not open/i.test(line))
      throw refused(place, line, place.check);
  };
  /** libcec writes each message that it puts on the bus. */
  const send = async (bytes: string, signal: AbortSignal) => {
    if (running === undefined) throw offline(place, "it is not connected");
    const isSent = (line: string) => {
      problem(line);
      return line.includes(`<< ${bytes}`) ? true : undefined;
    };
    return (await running.exchange.ask(`tx ${bytes}\n`, isSent, signal)).sentAt;
  };
  const release = (signal: AbortSignal) => send(`${to}:45`, signal);
  return {
    async connect(signal) {
      if (findProgram(program) === undefined)
        throw new DeviceError("DEVICE_ERROR", `There is no program ${program} on the PATH. Run: ${install}`);
      const started = startConsole(adapter, place);
      running = started;
      const version = await untilReady(started, place, problem, signal);
      return { make: "CEC", ...(version !== undefined && { version: `libCEC ${version}` }) };
    },
    async disconnect() {
      const { program: started } = running ?? {};
      running = undefined;
      await started?.end(500);
    },
    isConnected: () => running?.exchange.isOpen() ?? false,
    ask: (signal) => send(`${to}:8f`, signal),
    async press(code, signal) {
      const sentAt = await send(`${to}:44:${code}`, signal);
      await release(signal);
      return sentAt;
    },
    hold: {
      down: (code, signal) => send(`${to}:44:${code}`, signal),
      up: (_code, signal) => release(signal),
    },
  };
}

type Console = { program: RunningProgram; exchange: Exchange };

function startConsole(adapter: string | undefined, place: Place): Console {
  // -d 15: errors, warnings, notices, and the traffic of the bus.
  const args = ["-d", "15", "-t", "r", "-o", "Labwright", ...(adapter === undefined ? [] : [adapter])];
  const started = startProgram(program, args);
  const { stdout, stdin } = started.child;
  if (!stdout || !stdin) throw offline(place, `${program} has no console`);
  const transport = overStreams(stdout, stdin, byLine, () => void started.end(0));
  return { program: started, exchange: new Exchange(transport, place) };
}

/** Returns the version once the adapter is open. Throws DEVICE_OFFLINE. */
async function untilReady(
  { program: started, exchange }: Console,
  place: Place,
  problem: (line: string) => void,
  signal: AbortSignal,
): Promise<string | undefined> {
  let version: string | undefined;
  const isReady = (line: string) => {
    problem(line);
    version ??= /libCEC version: ([\w.]+)/i.exec(line)?.[1];
    return /waiting for input/.test(line) ? true : undefined;
  };
  try {
    await exchange.expect(isReady, startMs, signal);
    return version;
  } catch (error) {
    await started.end(0);
    signal.throwIfAborted();
    throw offline(
      place,
      error instanceof Error ? (error.message.split(". ", 1)[0] ?? "") : "it did not start",
    );
  }
}

async function diagnose(
  { adapter }: Settings,
  { env, signal }: DiagnosisContext,
): Promise<DiagnosisFinding[]> {
  if (findProgram(program, { ...env }) === undefined)
    return [{ what: program, status: "missing", detail: "not found", fix: `Run: ${install}` }];
  const { stdout } = await runProgram(program, ["-l"], { signal, timeoutMs: 8_000, env: { ...env } }).catch(
    () => ({ stdout: "" }),
  );
  const ports = [...stdout.matchAll(/^com port:\s*(\S+)/gm)].map(([, port]) => port);
  const what = "CEC adapter";
  if (ports.length === 0)
    return [
      { what, status: "missing", detail: "none is plugged in", fix: "Plug one in; cec-client -l lists it" },
    ];
  const detail = ports.join(", ");
  if (adapter !== undefined && !ports.includes(adapter))
    return [
      {
        what,
        status: "missing",
        detail: `${adapter} is not there; there are ${detail}`,
        fix: "Correct controllers.cec.adapter",
      },
    ];
  return [{ what, status: "ok", detail }];
}

/** HDMI-CEC by the program cec-client and an adapter. */
export const cecFactory = defineRemote({
  name: "cec",
  settings,
  example: {},
  claims: ({ adapter = "first" }) => [`cec:${adapter}`],
  diagnose,
  create: (given) => ({ keys: keyMap(keyTables.cec, given.keys), link: createLink(given) }),
});
