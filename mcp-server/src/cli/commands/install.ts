import { existsSync } from "node:fs";
import { ToolError } from "../../errors.ts";
import { installSkill, type SkillOptions } from "../folder/skill.ts";
import { bridgeCommand, type Installation, thisInstallation } from "../hosts/bridgeCommand.ts";
import { readConfig, updateConfig } from "../hosts/configFile.ts";
import { findEntry, type Server, snippet, startsSame, withoutServer, withServer } from "../hosts/editing.ts";
import { BrokenFile, type Entry } from "../hosts/format.ts";
import { genericHost, getHost, type Host, hosts, type Place } from "../hosts/hosts.ts";
import { join, type Machine, thisMachine } from "../hosts/machine.ts";
import { type ExitCode, exitCodes, type Terminal } from "../terminal.ts";

/** The command's options; `host` undefined asks for the table. */
export type InstallOptions = {
  host?: string | undefined;
  name: string;
  project?: boolean | undefined;
  dryRun?: boolean | undefined;
  print?: boolean | undefined;
  remove?: boolean | undefined;
  skills?: string | undefined;
  config?: string | undefined;
  dataDir?: string | undefined;
};

/** A test's replacement for this machine. */
export type Surroundings = { machine: Machine; installation: Installation };

/** One run of the command. */
type Run = { options: InstallOptions; terminal: Terminal; machine: Machine; installation: Installation };

/**
 * `labwright install`: adds this installation to a host, or shows the hosts of this machine. Exit code 0: it is added, or
 * was already; 1: the host is not there. Throws ToolError for wrong use and for a file that cannot be changed, and changes nothing then.
 */
export async function runInstall(
  options: InstallOptions,
  terminal: Terminal,
  surroundings: Surroundings = {
    machine: thisMachine(terminal.env, terminal.cwd),
    installation: thisInstallation(),
  },
): Promise<ExitCode> {
  checkName(options.name);
  const run = { options, terminal, ...surroundings };
  if (options.host === undefined) return showHosts(run);
  const host = getHost(options.host);
  if (options.print || host === genericHost) return print(run, host);
  const place = placeOf(run, host);
  if (place === undefined) return exitCodes.failed;
  return options.remove ? remove(run, host, place) : install(run, host, place);
}

/** `labwright install --skills`, of this installation. */
export const installSkillHere = (options: SkillOptions, terminal: Terminal): ExitCode =>
  installSkill(options, thisInstallation().program, terminal);

/** Accepted by every host: Codex and Claude Code allow no other characters. */
function checkName(name: string): void {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name)) return;
  throw new ToolError(
    "INVALID_INPUT",
    `"${name.slice(0, 80)}" cannot be the name of a server.`,
    "--name takes letters, digits, - and _, at most 64, the first a letter or digit.",
  );
}

function wantedEntry({ options, machine, installation }: Run, host: Host): Entry {
  const { config, dataDir, skills, name } = options;
  return host.dialect.entry(name, bridgeCommand(installation, { config, dataDir, skills, cwd: machine.cwd }));
}

const serverOf = ({ options }: Run, host: Host): Server => ({ dialect: host.dialect, name: options.name });

/** Only the snippet goes to stdout. */
function print(run: Run, host: Host): ExitCode {
  const { options, terminal, machine } = run;
  if (options.remove || (host === genericHost && options.project)) {
    throw new ToolError(
      "INVALID_INPUT",
      `There is nothing to ${options.remove ? "remove" : "write"} here: the configuration is only printed.`,
      "Leave --remove and --project out, or name a host: labwright install",
    );
  }
  const [first] = options.project ? [projectPlace(machine, host)] : placesOf(machine, host);
  terminal.out(snippet(serverOf(run, host), wantedEntry(run, host)));
  if (first !== undefined) terminal.err(`It goes into ${first.file}\n`);
  return exitCodes.passed;
}

/** The places of the user's file, those that are there first. */
function placesOf(machine: Machine, host: Host): Place[] {
  const places = host.user(machine);
  return [...places.filter(isThere), ...places.filter((place) => !isThere(place))];
}

const isThere = ({ file, folder }: Place) => existsSync(folder) || existsSync(file);

function projectPlace(machine: Machine, { title, project }: Host): Place {
  if (project !== undefined) {
    return { file: join(machine, machine.cwd, ...project.split("/")), folder: machine.cwd };
  }
  throw new ToolError(
    "INVALID_INPUT",
    `${title} has no settings for a single project.`,
    "Leave --project out.",
  );
}

/** Undefined when the host is not there, which it has then said. */
function placeOf(run: Run, host: Host): Place | undefined {
  const { options, terminal, machine } = run;
  if (options.project) return projectPlace(machine, host);
  const places = placesOf(machine, host);
  const [first] = places;
  if (first !== undefined && isThere(first)) return first;
  terminal.err(`${host.title} was not found on this machine. Looked for:\n`);
  for (const { folder } of places) terminal.err(`  ${folder}\n`);
  terminal.err(`Start it once, or see what it would get: labwright install ${host.name} --print\n`);
  return undefined;
}

function install(run: Run, host: Host, { file }: Place): ExitCode {
  const { options, terminal } = run;
  const server = serverOf(run, host);
  const entry = wantedEntry(run, host);
  const edit = (text: string) => edited(file, snippet(server, entry), () => withServer(text, server, entry));
  const change = options.dryRun ? tried(file, edit) : updateConfig(file, edit);
  if (change.before === change.after) {
    terminal.out(`${host.title} has ${options.name} already: ${file}\n`);
    return exitCodes.passed;
  }
  if (options.dryRun) return showChange(run, file, change);
  terminal.out(`${host.title} has ${options.name} now: ${file}\n`);
  if (change.backup !== undefined) terminal.out(`The file as it was: ${change.backup}\n`);
  if (options.project) {
    terminal.out(
      "It names a path of this machine. Everybody else in the project runs this command on their own.\n",
    );
  }
  terminal.out(`${host.next}\n`);
  return exitCodes.passed;
}

function remove(run: Run, host: Host, { file }: Place): ExitCode {
  const { options, terminal } = run;
  const server = serverOf(run, host);
  const byHand = `Take ${server.dialect.container}.${server.name} out.\n`;
  const edit = (text: string) => edited(file, byHand, () => withoutServer(text, server));
  const change = options.dryRun ? tried(file, edit) : updateConfig(file, edit);
  if (change.before === undefined || change.before === change.after) {
    terminal.out(`${host.title} has no ${options.name}: ${file}\n`);
    return exitCodes.passed;
  }
  if (options.dryRun) return showChange(run, file, change);
  terminal.out(`${host.title} no longer has ${options.name}: ${file}\n`);
  if (change.backup !== undefined) terminal.out(`The file as it was: ${change.backup}\n`);
  return exitCodes.passed;
}

type Texts = { before: string | undefined; after: string; backup?: string | undefined };

function tried(file: string, edit: (text: string) => string): Texts {
  const before = readConfig(file);
  return { before, after: edit(before ?? "") };
}

/** A file that cannot be changed safely stays as it is; the user is shown what to add by hand. */
function edited(file: string, byHand: string, edit: () => string): string {
  try {
    return edit();
  } catch (error) {
    if (!(error instanceof BrokenFile)) throw error;
    throw new ToolError(
      "CONFIG_INVALID",
      `${placeIn(file, error)}: ${error.message}. It was left as it is.`,
      `Correct it and run this again, or do this by hand:\n${byHand.trimEnd()}`,
      { file, ...(error.line !== undefined && { line: error.line }) },
      { cause: error },
    );
  }
}

const placeIn = (file: string, { line }: BrokenFile) => (line === undefined ? file : `${file}:${line}`);

function showChange({ terminal }: Run, file: string, { before, after }: Texts): ExitCode {
  terminal.out(`${before === undefined ? "Would make" : "Would change"} ${file}\n`);
  terminal.out(changedLines(before ?? "", after));
  return exitCodes.passed;
}

/** The lines between what both texts begin and end with. */
function changedLines(before: string, after: string): string {
  const old = linesOf(before);
  const fresh = linesOf(after);
  const shorter = Math.min(old.length, fresh.length);
  let head = 0;
  while (head < shorter && old[head] === fresh[head]) head++;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail++;
  const marked = (mark: string, lines: string[]) =>
    lines.slice(head, lines.length - tail).map((line) => `${mark} ${line}\n`);
  return [...marked("-", old), ...marked("+", fresh)].join("");
}

const linesOf = (text: string) => (text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/));

/** One line for each host: whether it is here, and whether it starts this installation. */
function showHosts(run: Run): ExitCode {
  const { options, terminal, machine } = run;
  if (options.remove || options.print || options.dryRun) {
    throw new ToolError(
      "INVALID_INPUT",
      "Which host? --remove, --print and --dry-run are about one.",
      `Hosts: ${[...hosts, genericHost].map(({ name }) => name).join(", ")}`,
    );
  }
  const shown = options.project ? hosts.filter(({ project }) => project !== undefined) : hosts;
  const rows = shown.map((host) => {
    const place = options.project ? projectPlace(machine, host) : placesOf(machine, host).find(isThere);
    return [host.name, place ? stateOf(run, host, place) : "not found", place?.file ?? ""] as const;
  });
  const wide = (column: 0 | 1) => Math.max(...rows.map((row) => row[column].length)) + 2;
  const [first, second] = [wide(0), wide(1)];
  for (const [name, state, file] of rows) {
    terminal.out(`${name.padEnd(first)}${state.padEnd(second)}${file}`.trimEnd());
    terminal.out("\n");
  }
  return exitCodes.passed;
}

function stateOf(run: Run, host: Host, { file }: Place): string {
  const server = serverOf(run, host);
  const wanted = wantedEntry(run, host);
  try {
    const entry = findEntry(readConfig(file) ?? "", server);
    if (entry === undefined) return `without ${server.name}`;
    const isCurrent = startsSame(entry, wanted, host.dialect);
    return isCurrent ? `has ${server.name}` : `has ${server.name}, with another command`;
  } catch (error) {
    if (error instanceof BrokenFile || error instanceof ToolError) return "cannot be read";
    throw error;
  }
}
