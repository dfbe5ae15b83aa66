import { z } from "zod";
import type { DiagnosisContext, DiagnosisFinding } from "../diagnosis.ts";
import { inputSent } from "../dispatch.ts";
import { runProgram } from "../programs/run.ts";
import { openConsole } from "../wire/console.ts";
import { orClose } from "../wire/exchange.ts";
import { offline, refused } from "../wire/failures.ts";
import { keyTables } from "./keyTables.ts";
import { type Access, defineRemote, type RemoteLink } from "./remote.ts";
import { keyMap, keysSchema } from "./settings.ts";

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
  keys: keysSchema(/^[0-9a-f]{2}$/),
});
type Settings = z.output<typeof settings>;

const program = "cec-client";
// -d 15: errors, warnings, notices, and the traffic of the bus.
const options = ["-d", "15", "-t", "r", "-o", "Labwright"];
/** Opening the adapter and taking an address on the bus. */
const startMs = 15_000;
/** Logical address of the type that cec-client takes with `-t r`: the first recorder. */
const own = "1";
const check = "Plug it in, or correct controllers.cec.adapter; cec-client -l lists adapters.";

async function connect(
  { adapter, target }: Settings,
  _access: Access,
  signal: AbortSignal,
): Promise<RemoteLink> {
  const given = adapter === undefined ? [] : [adapter];
  const place = { name: ["the CEC adapter", ...given].join(" "), check };
  const connection = openConsole(program, [...options, ...given], place);
  const isProblem = (line: string) => /^ERROR:|autodetect FAILED|unable to open|could not open/i.test(line);
  const to = `${own}${target.toString(16)}`;
  /** libcec writes each message that it puts on the bus. */
  const send = async (bytes: string, signal: AbortSignal) => {
    const isSent = (line: string) => {
      if (isProblem(line)) throw refused(place, line, check);
      return line.includes(`<< ${bytes}`) || undefined;
    };
    return (await connection.ask(`tx ${bytes}\n`, isSent, signal)).sentAt;
  };
  const down = (code: string, signal: AbortSignal) => send(`${to}:44:${code}`, signal);
  const up = (signal: AbortSignal) => send(`${to}:45`, signal);
  let version = "";
  const isReady = (line: string) => {
    if (isProblem(line)) throw offline(place, line);
    version ||= /libCEC version: ([\w.]+)/i.exec(line)?.[1] ?? "";
    return /waiting for input/.test(line) || undefined;
  };
  await orClose(connection, () => connection.expect(isReady, startMs, signal));
  return {
    facts: { make: "CEC", version: `libCEC ${version}` },
    connection,
    ask: (signal) => send(`${to}:8f`, signal),
    async press(code, signal) {
      const sentAt = await down(code, signal);
      inputSent();
      await up(signal);
      return sentAt;
    },
    hold: { down, up: (_code, signal) => up(signal) },
  };
}

async function diagnose(
  { adapter }: Settings,
  { env, signal }: DiagnosisContext,
): Promise<DiagnosisFinding[]> {
  const listed = await runProgram(program, ["-l"], { signal, timeoutMs: 8_000, env: { ...env } }).catch(
    () => ({ stdout: "" }),
  );
  const ports = [...listed.stdout.matchAll(/^com port:\s*(\S+)/gm)].map(([, port = ""]) => port);
  const what = "CEC adapter";
  const detail = ports.join(", ");
  if (adapter === undefined ? ports.length > 0 : ports.includes(adapter))
    return [{ what, status: "ok", detail }];
  const missing = ports.length === 0 ? "none is plugged in" : `${adapter} is not there; there are ${detail}`;
  return [{ what, status: "missing", detail: missing, fix: check }];
}

/** HDMI-CEC by the program cec-client and an adapter. */
export const cecFactory = defineRemote({
  ...{ name: "cec", what: "CEC adapter", settings, holds: true, connect, diagnose },
  program: { program, install: "sudo apt-get install -y cec-utils" },
  claims: ({ adapter = "first" }) => [`cec:${adapter}`],
  keys: ({ keys }) => keyMap(keyTables.cec, keys),
});
