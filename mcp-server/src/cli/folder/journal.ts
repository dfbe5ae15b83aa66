import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { z } from "zod";

/** A journal this long is put aside at the next lease. The one before it goes: `keep --last` needs no more lines. */
const longJournal = 500;

const fields = z.record(z.string(), z.unknown());
/**
 * The commands of one line that passed, as steps of a test. `failed`: a later command of the line did not pass. `unseen` are commands
 * that still ran when the line was answered.
 */
const lineSchema = z.object({
  session: z.string(),
  app: z.string().optional(),
  steps: z.array(fields).default([]),
  failed: z.boolean().optional(),
  unseen: z.array(z.string()).optional(),
});
export type JournalLine = z.output<typeof lineSchema>;

const commandSchema = z.object({
  command: z.string(),
  params: fields.default({}),
  negate: z.boolean().optional(),
  timeout_ms: z.int().optional(),
});

/** A command or check as the server reports it, as a step of a test. */
export function stepOf(given: unknown): Record<string, unknown> {
  const { command, params, negate, timeout_ms } = commandSchema.parse(given);
  const step = { [command]: params };
  return { ...(negate === true ? { not: step } : step), ...(timeout_ms !== undefined && { timeout_ms }) };
}

/** A file of the working folder's own folder, which may not be there yet: see {@link ownFolder}. */
export const ownFile = (cwd: string, name = ""): string => join(cwd, ".labwright", name);

const journalOf = (cwd: string) => ownFile(cwd, "done.jsonl");
const earlierOf = (cwd: string) => ownFile(cwd, "done.earlier.jsonl");

/** `.labwright/` of the working folder, which git leaves out. */
export function ownFolder(cwd: string): string {
  const folder = ownFile(cwd);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, ".gitignore"), "*\n");
  return folder;
}

/** Adds a line for `labwright keep`. It is appended: commands that run at the same time must not lose each other's lines. */
export function note(cwd: string, line: JournalLine): void {
  const lines = readLines(journalOf(cwd));
  ownFolder(cwd);
  if (lines.length >= longJournal && lines.at(-1)?.session !== line.session)
    renameSync(journalOf(cwd), earlierOf(cwd));
  appendFileSync(journalOf(cwd), `${JSON.stringify(line)}\n`, { mode: 0o600 });
}

/** All lines, oldest first. A line that cannot be read is left out. */
export const readJournal = (cwd: string): JournalLine[] =>
  [earlierOf(cwd), journalOf(cwd)].flatMap(readLines);

const readLines = (file: string): JournalLine[] =>
  existsSync(file)
    ? readFileSync(file, "utf8")
        .split("\n")
        .flatMap((text) => lineSchema.safeParse(jsonOf(text)).data ?? [])
    : [];

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `session` is the last lease of the folder. It is missing while the device was named but never taken. */
const ownDeviceSchema = z.object({ device: z.string(), session: z.string().optional() });
export type OwnDevice = z.output<typeof ownDeviceSchema>;

const pathOf = (cwd: string) => join(cwd, ".labwright", "device.json");

/** The device that the folder means. Undefined until it names or gets one, and after `labwright release`. */
export function findOwnDevice(cwd: string): OwnDevice | undefined {
  try {
    return ownDeviceSchema.parse(JSON.parse(readFileSync(pathOf(cwd), "utf8")));
  } catch {
    return undefined;
  }
}

export function rememberDevice(cwd: string, own: OwnDevice): void {
  ownFolder(cwd);
  replaceFile(pathOf(cwd), `${JSON.stringify(own)}\n`);
}

/** Whole or not at all: a command that runs at the same time must not read half of it. */
export function replaceFile(file: string, text: string): void {
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, text, { mode: 0o600 });
  renameSync(temporary, file);
}

export const forgetDevice = (cwd: string): void => rmSync(pathOf(cwd), { force: true });
