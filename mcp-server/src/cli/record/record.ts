import { z } from "zod";
import { ToolError } from "../../errors.ts";
import { note } from "../folder/journal.ts";
import { runKeep } from "../folder/keep.ts";
import type { DaemonOptions } from "../options.ts";
import { readUrl } from "../project/init.ts";
import { done, type RunConnection, unending } from "../run/connection.ts";
import { deviceName, findDevice, readSlot, type Slot } from "../run/slots.ts";
import { counted, type ExitCode, exitCodes, failureText, type Terminal } from "../terminal.ts";
import { withDaemon } from "../withDaemon.ts";
import { follow } from "./conversation.ts";
import { type Report, reportSchema } from "./report.ts";
import { addScreens, chooseChecks, proposalsIn, withChecks } from "./writing.ts";

export type RecordOptions = DaemonOptions & {
  app?: string | undefined;
  name?: string | undefined;
  device?: string | undefined;
  /** The address of a Chromium that runs already on this machine. */
  cdp?: string | undefined;
  force?: boolean | undefined;
};

const mostMs = 3_600_000;

/**
 * `labwright record <url>`: what a person does in a browser's window becomes a test. Ends by Enter, Ctrl-C or with the browser; then the
 * browser is closed, and what was recorded is written. Throws BROWSER_UNUSABLE where there is no display, and INVALID_INPUT for a
 * recording without a check; its steps stay in the journal for `labwright keep`.
 */
export async function runRecord(
  address: string,
  options: RecordOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const url = readUrl(address);
  const display = options.cdp === undefined ? displayOf(terminal.env) : undefined;
  const copy =
    options.cdp === undefined ? { headed: true, ...(display && { display }) } : { cdp: options.cdp };
  const recorded = await withDaemon(options, terminal, { command: "record" }, (connection) =>
    record(url, { options, copy, terminal, connection }),
  );
  // Ctrl-C ends the recording, not what becomes of it.
  try {
    return await write(url, recorded, options, { ...terminal, signal: unending() });
  } catch (error) {
    terminal.err(failureText(error));
    return exitCodes.error;
  }
}

const displayNames = ["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR"];

/** What a browser needs of this session to open its window here. Systems without X11 and Wayland need nothing. */
function displayOf(env: Terminal["env"]): Record<string, string> | undefined {
  if (process.platform !== "linux") return undefined;
  const given = displayNames.flatMap((name): [string, string][] => {
    const value = env[name];
    return value ? [[name, value]] : [];
  });
  const display = Object.fromEntries(given);
  if (display.DISPLAY !== undefined || display.WAYLAND_DISPLAY !== undefined) return display;
  throw new ToolError(
    "BROWSER_UNUSABLE",
    "There is no display here, and a person records in the window of a browser.",
    "Run it in a session with a display, or in a Chromium started with --remote-debugging-port=9222: labwright record URL --cdp http://127.0.0.1:9222",
  );
}

type Parts = {
  options: RecordOptions;
  copy: Record<string, unknown>;
  terminal: Terminal;
  connection: RunConnection;
};
type Recorded = { id: string; report: Report };

const startedSchema = z.looseObject({ recording_id: z.string(), hears_person: z.boolean() });

async function record(url: URL, { options, copy, terminal, connection }: Parts): Promise<Recorded> {
  const call = (name: string, args: Record<string, unknown>, signal = terminal.signal) =>
    done(connection.call(name, args, signal));
  const named = options.device === undefined ? {} : { device_id: options.device };
  const device_id = await findDevice(named, connection, terminal.signal);
  const slot = await readSlot(connection.call("take_control", { device_id, copy }, terminal.signal));
  const { session_id } = slot;
  try {
    const started = await call("start_recording", { session_id, kind: "steps", max_ms: mostMs });
    const { recording_id, hears_person } = startedSchema.parse(started);
    if (!hears_person) throw unheard(slot);
    const open = { command: "navigate_to_url", params: { url: url.href } };
    await call("execute_device_action", { session_id, actions: [open], look: false });
    terminal.err(`Recording in ${deviceName(slot.device)}. Act in its window.\n`);
    const read = (args: object) => call("read_recording", { recording_id, ...args }, unending());
    const { report: latest, broken } = await follow(terminal, read);
    const stopping = call("stop_recording", { recording_id }, unending());
    const report = await stopping.then((answer) => reportSchema.parse(answer)).catch(() => latest);
    // Without the daemon there is nothing to write with: the steps are kept for another time.
    if (broken !== undefined) {
      noteSteps({ id: recording_id, report }, [], options, terminal);
      throw broken;
    }
    if (report.ended !== "stopped") terminal.err(`${endText(report.ended)}\n`);
    return { id: recording_id, report };
  } finally {
    // A copy is closed with its lease. A daemon that is gone has closed it.
    await connection.call("release_control", { session_id }, unending()).catch(() => undefined);
  }
}

const unheard = ({ device }: Slot) =>
  new ToolError(
    "INVALID_INPUT",
    `${deviceName(device)} does not report what a person does.`,
    "Record in a Chromium browser: name its device with --device.",
  );

const ends: Readonly<Record<string, string>> = {
  device_lost: "The browser was closed.",
  lease_lost: "Another client took the browser.",
  max_time: "The recording ended after an hour.",
  server_stopped: "The server stopped.",
};
const endText = (ended: string | undefined) => ends[ended ?? ""] ?? "The recording ended.";

type Step = Record<string, unknown>;

function noteSteps(
  { id, report }: Recorded,
  chosen: Parameters<typeof withChecks>[1],
  { app }: RecordOptions,
  { cwd }: Terminal,
): Step[] {
  const steps = withChecks(report, chosen);
  // Each recording is a session of its own, so that `keep` takes its steps and no others.
  note(cwd, { session: `record ${id}`, steps, ...(app !== undefined && { app }) });
  return steps;
}

async function write(
  url: URL,
  recorded: Recorded,
  options: RecordOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const { report } = recorded;
  const { app, force } = options;
  // The line that opens the page is not a deed of a person.
  if (report.steps.every(({ by }) => by === "tool")) {
    terminal.err("Nothing was done in the browser, so nothing was written.\n");
    return exitCodes.failed;
  }
  const chosen = await chooseChecks(proposalsIn(report), terminal);
  const proposed = `${app ?? "recording"} ${report.screens.at(-1)?.name ?? ""}`.trim();
  const typed = options.name ?? (await terminal.ask?.(`Name of the test [${proposed}]: `))?.trim();
  noteSteps(recorded, chosen, options, terminal);
  const remarks = new Set(report.steps.flatMap(({ remark }) => remark ?? []));
  const added = app === undefined ? undefined : await addScreens({ app, url: url.href, report }, terminal);
  let code: ExitCode = exitCodes.error;
  try {
    code = await runKeep(typed || proposed, { ...options, force, app }, terminal);
  } finally {
    // What the test was refused for may stand there.
    if (code !== exitCodes.passed) added?.undo();
  }
  if (added && code === exitCodes.passed)
    terminal.out(`${added.file}: ${counted(report.screens.length, "screen")}\n`);
  for (const remark of remarks) terminal.out(`${remark}\n`);
  return code;
}
