import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { builtInFactories } from "../../config/controllers.ts";
import { findProject, projectFiles } from "../../config/places.ts";
import { ToolError } from "../../errors.ts";
import { fileNameOf, shortForm, testYaml } from "../../services/apps/files/index.ts";
import { verbsOf } from "../../services/apps/steps/index.ts";
import type { DaemonOptions } from "../options.ts";
import { contentOf, schemaPath } from "../project/content.ts";
import { filesOfApps } from "../project/files.ts";
import { examine, findingText } from "../project/lint.ts";
import { counted, type ExitCode, exitCodes, type Terminal } from "../terminal.ts";
import { withDaemon } from "../withDaemon.ts";
import { type JournalLine, readJournal } from "./journal.ts";

export type KeepOptions = DaemonOptions & {
  /** So many of the latest commands, in place of all since the device was taken. */
  last?: number | undefined;
  app?: string | undefined;
  force?: boolean | undefined;
};

type Step = JournalLine["steps"][number];
type Kept = { step: Step; app: string | undefined };

/**
 * `labwright keep <name>`: writes what passed in this folder as a test into `labwright/tests`. Throws INVALID_INPUT where that
 * would be no test, and writes nothing then. Exit code 2 also when the server would not take it.
 */
export async function runKeep(name: string, options: KeepOptions, terminal: Terminal): Promise<ExitCode> {
  const { cwd } = terminal;
  const path = join(findProject(cwd) ?? cwd, projectFiles, "tests", `${nameOfFile(name)}.yaml`);
  const file = relative(cwd, path);
  if (existsSync(path) && options.force !== true)
    throw refusal(`${file} exists already.`, "Choose another name, or replace it with --force.");
  const { kept, unseen } = recalled(readJournal(cwd), options.last);
  const steps = kept.map(({ step }) => step);
  refuseUseless(steps);
  const app = appOf(kept, options.app);
  const yaml = testYaml(
    shortForm({ name, ...(app !== undefined && { app }), steps }, verbs),
    schemaPath(path, "test", cwd),
  );
  const { findings } = await withDaemon(options, terminal, { command: "keep" }, (connection) =>
    examine([...appFile(app, cwd), { file, yaml }], connection, terminal),
  );
  if (findings.length > 0) {
    terminal.err(findings.map(findingText).join(""));
    terminal.err(`The server does not take this test, so nothing was written:\n${yaml}`);
    return exitCodes.error;
  }
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, yaml);
  const checks = steps.filter(isCheck).length;
  terminal.out(`${file}: ${counted(steps.length, "step")}, ${counted(checks, "check")} among them\n`);
  for (const line of remarks(steps, unseen)) terminal.out(`${line}\n`);
  terminal.out(`Run it: labwright run ${/^[\w./-]+$/.test(file) ? file : JSON.stringify(file)}\n`);
  return exitCodes.passed;
}

/** The file of the test's app, which the server may not have loaded yet. */
const appFile = (app: string | undefined, cwd: string) =>
  filesOfApps(cwd)
    .filter((path) => app !== undefined && contentOf(path).app === app)
    .map((path) => ({ file: relative(cwd, path), yaml: readFileSync(path, "utf8") }));

const refusal = (message: string, hint: string) => new ToolError("INVALID_INPUT", message, hint);

function nameOfFile(name: string): string {
  const file = fileNameOf(name);
  if (file !== "") return file;
  throw refusal(
    `"${name}" has no letter or digit for the name of a file.`,
    'For example: labwright keep "sign in"',
  );
}

/** The commands that passed since the device was taken, or the last ones, without those that were repeated after a failure. */
function recalled(
  lines: readonly JournalLine[],
  last: number | undefined,
): { kept: Kept[]; unseen: string[] } {
  const { session } = lines.at(-1) ?? {};
  const begin = lines.findLastIndex((line) => line.session !== session) + 1;
  const own = last === undefined ? lines.slice(begin) : lines;
  const lasting = own.filter((line, index) => !isTriedAgain(line, own[index + 1]));
  const all = lasting.flatMap(({ steps, app }) => steps.map((step) => ({ step, app })));
  return {
    kept: last === undefined ? all : all.slice(-last),
    unseen: lasting.flatMap(({ unseen = [] }) => unseen),
  };
}

function isTriedAgain({ failed, steps }: JournalLine, next: JournalLine | undefined): boolean {
  return failed === true && next !== undefined && isDeepStrictEqual(next.steps.slice(0, steps.length), steps);
}

/** A step is named by its command or check; `not` encloses a check. */
const verbs = verbsOf(builtInFactories);
const isCheck = (step: Step) => Object.keys(step).some((key) => key === "not" || verbs.checks.has(key));
const isGo = (step: Step) => "go" in step;

function refuseUseless(steps: readonly Step[]): void {
  if (steps.length === 0)
    throw refusal(
      "There is nothing to keep: no command passed since this folder took its device.",
      "Use labwright do and labwright check first, or reach further back: --last 10",
    );
  if (!steps.some((step) => isCheck(step) || isGo(step)))
    throw refusal(
      `None of the ${counted(steps.length, "step")} is a check, and a test that checks nothing cannot pass.`,
      'Check what the steps led to, and keep them again: labwright check text "Welcome"',
    );
  const lost = steps.flatMap((step) => Object.entries(step)).find(([, params]) => hasRef(params));
  if (lost)
    throw refusal(
      `${lost[0]} ${JSON.stringify(lost[1])}: no selector finds this element alone, and a ref is good for today only.`,
      "Do it again with a selector that says which one you want, then keep that: --last 5",
    );
}

function hasRef(params: unknown): boolean {
  if (typeof params !== "object" || params === null) return false;
  return Object.entries(params).some(([key, value]) => /^(?:\w+_)?ref$/.test(key) || hasRef(value));
}

function appOf(kept: readonly Kept[], named: string | undefined): string | undefined {
  const apps = [...new Set([named, ...kept.map(({ app }) => app)].flatMap((app) => app ?? []))];
  if (apps.length <= 1) return apps[0];
  throw refusal(
    `A test is of one app, and these steps are of ${apps.join(" and ")}.`,
    "Keep the last of them: --last 5",
  );
}

const openings = new Set(["navigate_to_url", "open_app", "go"]);

function remarks([first]: readonly Step[], unseen: readonly string[]): string[] {
  const [verb = ""] = Object.keys(first ?? {});
  const begins = openings.has(verb)
    ? []
    : [
        `A test starts fresh, with no page or app open, and this one begins with ${verb}. Put a step that opens the page before it.`,
      ];
  const left = `Left out: ${unseen.join(", ")}. It still ran when it was answered.`;
  return [...begins, ...(unseen.length > 0 ? [left] : [])];
}
