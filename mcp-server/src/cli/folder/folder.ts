import { createHash } from "node:crypto";
import { readdirSync, realpathSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { z } from "zod";
import { findErrorFacts, ToolError } from "../../errors.ts";
import { renderError, renderResult } from "../../server/call/render.ts";
import {
  commandOf,
  commandsIn,
  paramsOf,
  type Said,
  schemaSchema,
  shortNames,
  spokenSteps,
} from "../../services/apps/steps/index.ts";
import type { ToolAnswer } from "../daemon.ts";
import { forTerminal, hintFor } from "../hints.ts";
import type { DaemonOptions } from "../options.ts";
import { exitCodeOf } from "../run/run.ts";
import { type ExitCode, exitCodes, type Terminal } from "../terminal.ts";
import { withDaemon } from "../withDaemon.ts";
import {
  findOwnDevice,
  forgetDevice,
  type JournalLine,
  note,
  ownFolder,
  rememberDevice,
  stepOf,
} from "./journal.ts";

/** A longer reply goes into a file, of which an agent reads the part that it needs. */
const longestReply = 8_000;

export type FolderOptions = DaemonOptions & { device?: string | undefined };

type Call = (name: string, args?: Record<string, unknown>) => Promise<ToolAnswer>;
type Folder = { call: Call; artifact(uri: string): Promise<Uint8Array>; terminal: Terminal };

/** The tool's error in its own words. Exit code 1 where the app is at fault, 2 where the call or the lab is. */
class Failed extends Error {
  constructor(readonly answer: Extract<ToolAnswer, { ok: false }>) {
    super(answer.error.message);
  }
}

/** The tools' own hints name parameters that these commands do not have. */
const deviceHints: Readonly<Record<string, string>> = {
  DEVICE_AMBIGUOUS: "Take one for this folder: labwright take NAME",
  DEVICE_HELD: "Wait for it, or take another one for this folder: labwright take NAME",
  DEVICE_NOT_FOUND:
    "Take another one for this folder: labwright take NAME. To forget this one: labwright release",
};

/** Runs `work` as the client of the working folder, with its calls under way cancelled by Ctrl-C. */
async function inFolder(
  options: FolderOptions,
  terminal: Terminal,
  work: (folder: Folder) => Promise<ExitCode>,
): Promise<ExitCode> {
  const folder = realpathSync(terminal.cwd);
  const hash = createHash("sha256").update(folder).digest("hex").slice(0, 12);
  const client = `folder/${process.getuid?.() ?? 0}-${hash}`;
  try {
    return await withDaemon(options, terminal, { command: "call", client }, ({ call, artifact }) =>
      work({ call: (name, args = {}) => call(name, args, terminal.signal), artifact, terminal }),
    );
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    const { code, details } = error.answer.error;
    // Without the devices there are, it is another error of this code, with its own hint.
    const isOfNames = code !== "DEVICE_NOT_FOUND" || "devices" in details;
    const hint = (isOfNames ? deviceHints[code] : undefined) ?? hintFor(error.answer.error);
    const message = forTerminal(error.answer.error.message);
    terminal.err(`${renderError({ ...error.answer.error, message, hint })}\n`);
    return findErrorFacts(code)?.fault === "app" ? exitCodes.failed : exitCodes.error;
  }
}

async function done(answer: ToolAnswer | Promise<ToolAnswer>): Promise<Record<string, unknown>> {
  const given = await answer;
  if (given.ok) return given.structured;
  throw new Failed(given);
}

const leaseSchema = z.object({ session_id: z.string(), device: z.string(), expires_at: z.string() });
type Lease = z.output<typeof leaseSchema>;
const deviceArgs = (device: string | undefined) => (device === undefined ? {} : { device_id: device });
const takeControl = async (call: Call, device: string | undefined): Promise<Lease> =>
  leaseSchema.parse(await done(call("take_control", deviceArgs(device))));
const leaseText = ({ device, expires_at }: Lease) =>
  `${device} until ${expires_at}; every command renews it\n`;
const againText = ({ device, expires_at }: Lease) =>
  `${device} is taken again, until ${expires_at}; its lease had ended\n`;

/**
 * The session of the device that is named for this command. Else of the folder's device, also when its lease has ended. Only
 * a folder without a device takes the free one. A device that was not named in the call is named when it is taken.
 */
async function session(
  { call, terminal }: Pick<Folder, "call" | "terminal">,
  named: string | undefined,
): Promise<{ session_id: string }> {
  const { cwd } = terminal;
  const own = findOwnDevice(cwd);
  // Before it is taken: if this fails, the next command must not take another one.
  if (own === undefined && named !== undefined) rememberDevice(cwd, { device: named });
  const lease = await takeControl(call, named ?? own?.device);
  const { device, session_id } = lease;
  const isOwn = own === undefined || named === undefined || device === own.device;
  if (isOwn && session_id !== own?.session) {
    rememberDevice(cwd, { device, session: session_id });
    if (named === undefined) terminal.err(own?.session === undefined ? leaseText(lease) : againText(lease));
  }
  return { session_id };
}

/** `labwright take [device]`. */
export const runTake = (options: FolderOptions, terminal: Terminal) =>
  inFolder(options, terminal, async ({ call }) => {
    const { cwd } = terminal;
    const named = options.device;
    if (named !== undefined) rememberDevice(cwd, { device: named });
    const lease = await takeControl(call, named ?? findOwnDevice(cwd)?.device);
    const { device, session_id } = lease;
    rememberDevice(cwd, { device, session: session_id });
    // `keep` begins here, also with a device that this folder has already.
    note(cwd, { session: `${session_id} ${Date.now()}`, steps: [] });
    terminal.out(leaseText(lease));
    return exitCodes.passed;
  });

/** `labwright release`. The folder means no device after it, also when its lease had ended. */
export const runRelease = (options: FolderOptions, terminal: Terminal) =>
  inFolder(options, terminal, async ({ call }) => {
    const { cwd } = terminal;
    const own = findOwnDevice(cwd);
    if (options.device === undefined) forgetDevice(cwd);
    const release = (device: string | undefined) => call("release_control", deviceArgs(device));
    let answer = await release(options.device ?? own?.device);
    // The folder's device was named and never taken. The folder may still hold the one before it.
    if (!answer.ok && options.device === undefined && own !== undefined && !own.session) {
      const earlier = await release(undefined);
      if (earlier.ok) answer = earlier;
    }
    const reply = await done(answer);
    if (reply.released === own?.device) forgetDevice(cwd);
    terminal.out(`${renderResult(reply)}\n`);
    return exitCodes.passed;
  });

/** `labwright do <command> [element] [values] [then ...]`: all of them in one call. */
export const runDo = (line: readonly string[], options: FolderOptions, terminal: Terminal) =>
  inFolder(options, terminal, async (folder) => {
    const said = commandsIn(line, "do");
    const held = await session(folder, options.device);
    const actions = await resolved(said, { call: folder.call, verb: "do", held });
    const answer = await folder.call("execute_device_action", { ...held, actions, lasting: true });
    const { execution_id, status, ...reply } = await done(noted(answer, actions, held, terminal));
    // A run that has not ended is followed by its id.
    say(folder, "do", renderResult(status === "passed" ? reply : { status, execution_id, ...reply }));
    return exitCodeOf([String(status)]);
  });

/** Notes what passed, and gives the answer without it. */
function noted(
  answer: ToolAnswer,
  actions: readonly { command: string }[],
  held: { session_id: string },
  { cwd }: Terminal,
): ToolAnswer {
  const { lasting, ...rest } = answer.ok ? answer.structured : answer.error.details;
  const steps = stepsOf(lasting);
  const isOpen = answer.ok && lasting === undefined;
  const line = { session: held.session_id, steps, ...(!answer.ok && { failed: true }) };
  if (isOpen) note(cwd, { ...line, unseen: actions.map(({ command }) => command) });
  else if (steps.length > 0) note(cwd, line);
  return answer.ok
    ? { ...answer, structured: rest }
    : { ...answer, error: { ...answer.error, details: rest } };
}

const stepsOf = (lasting: unknown): JournalLine["steps"] =>
  z.array(z.unknown()).catch([]).parse(lasting).map(stepOf);

const verdictSchema = z.object({
  pass: z.boolean(),
  inconclusive: z.string().optional(),
  verdicts: z.array(
    z.looseObject({ command: z.string(), pass: z.boolean(), expected: z.string(), actual: z.string() }),
  ),
});

/** `labwright check <check> [values] [then ...]`: 0 when all hold, 1 when one does not, 2 when one could not be judged. */
export const runCheck = (line: readonly string[], options: FolderOptions, terminal: Terminal) =>
  inFolder(options, terminal, async (folder) => {
    const said = commandsIn(line, "check");
    const held = await session(folder, options.device);
    const checks = await resolved(said, { call: folder.call, verb: "check", held });
    const answered = await done(folder.call("verify_device_state", { ...held, checks, lasting: true }));
    const { lasting, ...reply } = answered;
    const { pass, inconclusive, verdicts } = verdictSchema.parse(reply);
    const steps = stepsOf(lasting).filter((_, index) => verdicts[index]?.pass);
    if (steps.length > 0) note(terminal.cwd, { session: held.session_id, steps });
    if (pass) {
      terminal.out(`passed: ${verdicts.map(({ expected }) => expected).join("; ")}\n`);
      return exitCodes.passed;
    }
    say(folder, "check", renderResult(reply));
    return inconclusive === undefined ? exitCodes.failed : exitCodes.error;
  });

const listingSchema = z.looseObject({
  commands: z.string().optional(),
  checks: z.string().optional(),
  schema: schemaSchema,
});

type Listed = z.output<typeof listingSchema>;
type Listing = { call: Call; verb: keyof typeof shortNames; held: { session_id: string } };
const listings = { do: "list_actions", check: "list_verifications" } as const;

/** A command or check by its own name needs no list of the device's. */
const isOwnName = ({ command }: Said) => /^[a-z]+_[a-z_]+$/.test(command);

/** Commands or checks with their parameters: words as tests have them, else by the schemas of this device. */
async function resolved(said: readonly Said[], listing: Listing) {
  const offered = said.every(isOwnName) ? new Set<string>() : await offeredNames(listing);
  const known = new Map<string, Listed>();
  const steps: Step[] = [];
  for (const one of said) {
    const spoken = isOwnName(one) ? undefined : spokenSteps(one, listing.verb, offered);
    if (spoken) steps.push(...spoken.map(({ type: _, ...step }) => step));
    else steps.push(await byName(one, offered, known, listing));
  }
  return steps;
}

type Step = { command: string; params: Record<string, unknown>; timeout_ms?: unknown; negate?: boolean };

async function byName(
  one: Said,
  offered: ReadonlySet<string>,
  known: Map<string, Listed>,
  listing: Listing,
): Promise<Step> {
  const isCheck = listing.verb === "check";
  const command = commandOf(one, listing.verb, offered);
  const listed = known.get(command) ?? (await listedAs(command, one, listing));
  known.set(command, listed);
  const usage = (listed.commands ?? listed.checks ?? "").split(" - ")[0] ?? "";
  // For a check it is how long to try, which is not one of the check's own parameters.
  const { properties, required } = listed.schema;
  const given = { ...properties, ...(isCheck && { timeout_ms: { type: "integer" } }) };
  const { timeout_ms, ...params } = paramsOf({ ...one, command }, { properties: given, required }, usage);
  const timeout = timeout_ms === undefined ? {} : { timeout_ms };
  return isCheck
    ? { command, params, ...timeout, ...(one.not && { negate: true }) }
    : { command, params: { ...params, ...timeout } };
}

/** The names of all that the device offers. */
async function offeredNames({ call, verb, held }: Listing): Promise<Set<string>> {
  const { commands, checks } = listingSchema.partial().parse(await done(call(listings[verb], held)));
  const lines = (commands ?? checks ?? "").split("\n");
  return new Set(lines.flatMap((line) => line.split(" ")[0] ?? []));
}

/** The device's listing of a command. Throws ACTION_NOT_FOUND if it has none of that name. */
async function listedAs(command: string, said: Said, { call, verb, held }: Listing): Promise<Listed> {
  const answer = await call(listings[verb], { ...held, command });
  if (answer.ok || !isWellKnown(command, verb) || !("nearest" in answer.error.details))
    return listingSchema.parse(await done(answer));
  // Other devices have it, so it is not a typo for a similar name.
  const { nearest: _, ...details } = answer.error.details;
  const short = said.command === command ? "" : `"${said.command}" is short for ${command}. `;
  const hint = `${short}labwright call ${listings[verb]} shows what this device has.`;
  throw new Failed({ ...answer, error: { ...answer.error, hint, details } });
}

const isWellKnown = (command: string, verb: Listing["verb"]) =>
  Object.values(shortNames[verb]).includes(command);

export type LookOptions = FolderOptions & { find?: string | undefined; all?: boolean | undefined };

/** `labwright look`: the elements on the screen with their refs. */
export const runLook = ({ find, all, ...options }: LookOptions, terminal: Terminal) =>
  inFolder(options, terminal, async (folder) => {
    const args = { ...(find !== undefined && { find }), ...(all === true && { interactive_only: false }) };
    const held = await session(folder, options.device);
    const reply = await done(folder.call("dump_ui_elements", { ...held, ...args }));
    const { location, title, generation: _, elements, more, ...details } = reply;
    const page = `${String(location)} ${JSON.stringify(title)}`;
    const rest = { ...details, ...(more !== 0 && { more }) };
    const lines = [page, String(elements), ...(Object.keys(rest).length > 0 ? [renderResult(rest)] : [])];
    say(folder, "look", lines.join("\n"));
    return exitCodes.passed;
  });

/** `labwright shot`: a picture as a file, whose path is printed. */
export const runShot = (options: FolderOptions & { marks?: boolean | undefined }, terminal: Terminal) =>
  inFolder(options, terminal, async (folder) => {
    const { call, artifact } = folder;
    const held = await session(folder, options.device);
    const shot = await done(call("capture_screenshot", { ...held, marks: options.marks === true }));
    const { artifact: uri, width, height } = z.looseObject({ artifact: z.string() }).parse(shot);
    const bytes = await artifact(uri);
    const isPng = bytes[0] === 0x89;
    terminal.out(`${keepFile(terminal, "shot", isPng ? "png" : "jpg", bytes)} (${width}x${height})\n`);
    return exitCodes.passed;
  });

/** `labwright go <node>`: in the app that is named, or the only one there is. */
export const runGo = (
  node: string,
  { app, ...options }: FolderOptions & { app?: string | undefined },
  terminal: Terminal,
) =>
  inFolder(options, terminal, async (folder) => {
    const userinterface_name = app ?? (await onlyApp(folder.call));
    const held = await session(folder, options.device);
    const reply = await done(folder.call("navigate_to_node", { ...held, userinterface_name, node }));
    if (reply.status === "passed")
      note(terminal.cwd, { session: held.session_id, app: userinterface_name, steps: [{ go: node }] });
    say(folder, "go", renderResult(reply));
    return exitCodeOf([String(reply.status)]);
  });

async function onlyApp(call: Call): Promise<string> {
  const listed = z
    .looseObject({ userinterfaces: z.array(z.looseObject({ name: z.string() })) })
    .parse(await done(call("list_userinterfaces")));
  const names = listed.userinterfaces.map(({ name }) => name);
  const [only] = names;
  if (only !== undefined && names.length === 1) return only;
  const message =
    names.length === 0 ? "No app is known yet." : `Several apps are known: ${names.join(", ")}.`;
  const hint =
    names.length === 0 ? "labwright init makes one; labwright import reads one." : "Name it: --app NAME";
  throw new ToolError("INVALID_INPUT", message, hint);
}

function say({ terminal }: Pick<Folder, "terminal">, name: string, text: string): void {
  const isShort = text.length <= longestReply;
  const file = isShort ? "" : keepFile(terminal, name, "txt", `${text}\n`);
  terminal.out(isShort ? `${text}\n` : `${text.split("\n").length} lines in ${file}\n`);
}

/** Writes into `.labwright/` of the working folder; the path from there. */
function keepFile(terminal: Terminal, name: string, extension: string, content: string | Uint8Array): string {
  const folder = ownFolder(terminal.cwd);
  const numbers = readdirSync(folder).map((file) =>
    Number(new RegExp(`^${name}-(\\d+)\\.`).exec(file)?.[1] ?? 0),
  );
  const file = join(folder, `${name}-${Math.max(0, ...numbers) + 1}.${extension}`);
  writeFileSync(file, content);
  return relative(terminal.cwd, file);
}
