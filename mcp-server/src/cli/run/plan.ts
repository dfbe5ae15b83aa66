import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { ToolError } from "../../errors.ts";
import { done, type RunConnection, type RunTerminal } from "./connection.ts";
import { type Filter, filtered } from "./filter.ts";

export type PlanOptions = Filter & {
  /** Names or ids of saved test cases, or YAML files, which are saved first. All saved test cases when empty. */
  testcases: readonly string[];
  /** Checks the commands of what is saved. */
  device?: string | undefined;
  /** `name=value`; a value that is JSON is taken as such. */
  inputs: readonly string[];
};

export type Planned = { name: string; inputs: Record<string, unknown>; needsDevice: boolean };

const listedSchema = z.looseObject({
  id: z.string(),
  name: z.string(),
  tags: z.array(z.string()).default([]),
  inputs: z
    .array(z.string())
    .default([])
    .transform((inputs) => inputs.map((input) => input.replace(/ \(required\)$/, ""))),
  needs_device: z.boolean().default(true),
});
type Listed = z.output<typeof listedSchema>;

/** Saves files, finds every test case that the filter leaves, and gives each the inputs that it declares. */
export async function planRun(
  options: PlanOptions,
  connection: RunConnection,
  { cwd, signal }: Pick<RunTerminal, "cwd" | "signal">,
): Promise<Planned[]> {
  const names: string[] = [];
  for (const argument of options.testcases) {
    if (!/\.ya?ml$/i.test(argument)) names.push(argument);
    else names.push(...(await saveFile(resolve(cwd, argument), options.device, connection, signal)));
  }
  const inputs = parseInputs(options.inputs);
  const all = await listAll(connection, signal);
  const wanted = options.testcases.length === 0 ? all : await named(names, all, connection, signal);
  if (wanted.length === 0) {
    const hint = "Give a YAML file, or make one with `labwright call save_testcase`.";
    throw new ToolError("INVALID_INPUT", "There is no test case yet.", hint);
  }
  const tests = filtered(wanted, options);
  refuseStray(Object.keys(inputs), tests);
  return tests.map((test) => ({
    name: test.name,
    inputs: Object.fromEntries(Object.entries(inputs).filter(([name]) => test.inputs.includes(name))),
    needsDevice: test.needs_device,
  }));
}

/** As many at a time as a reply holds. */
async function listAll(connection: RunConnection, signal: AbortSignal): Promise<Listed[]> {
  const page = z.looseObject({ testcases: z.array(listedSchema), more: z.number().default(0) });
  const all: Listed[] = [];
  for (let more = 1; more > 0; ) {
    const args = { offset: all.length, max_tokens: 50_000 };
    const found = page.parse(await done(connection.call("list_testcases", args, signal)));
    all.push(...found.testcases);
    more = found.testcases.length === 0 ? 0 : found.more;
  }
  return all;
}

async function named(
  names: readonly string[],
  all: readonly Listed[],
  connection: RunConnection,
  signal: AbortSignal,
): Promise<Listed[]> {
  const byName = new Map(all.map((test) => [test.name, test]));
  const byId = new Map(all.map((test) => [test.id, test]));
  const wanted: Listed[] = [];
  for (const name of names) {
    const found = byName.get(name) ?? byId.get(name);
    if (found) wanted.push(found);
    // Throws, with the names that are nearest.
    else await done(connection.call("load_testcase", { testcase: name }, signal));
  }
  return wanted;
}

function refuseStray(given: readonly string[], tests: readonly Listed[]): void {
  const known = new Set(tests.flatMap(({ inputs }) => inputs));
  const stray = given.filter((name) => !known.has(name));
  if (stray.length === 0) return;
  const hint = known.size > 0 ? `Inputs are ${[...known].join(", ")}.` : "They take no inputs.";
  throw new ToolError("INVALID_INPUT", `No test case has the input ${stray.join(", ")}.`, hint);
}

/** A file holds one test case, or several under `testcases`, as in an exported user interface. */
async function saveFile(
  file: string,
  device: string | undefined,
  connection: RunConnection,
  signal: AbortSignal,
): Promise<string[]> {
  const content = await readYaml(file);
  const several = z.looseObject({ testcases: z.array(z.unknown()).min(1) }).safeParse(content);
  const names: string[] = [];
  for (const testcase of several.success ? several.data.testcases : [content]) {
    const args = { testcase, ...(device !== undefined && { device_id: device }) };
    const saved = await done(connection.call("save_testcase", args, signal));
    names.push(z.looseObject({ name: z.string() }).parse(saved).name);
  }
  return names;
}

async function readYaml(file: string): Promise<unknown> {
  try {
    return parse(await readFile(file, "utf8"));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new ToolError(
      "INVALID_INPUT",
      `${file} cannot be read: ${message}`,
      "Give a YAML file of a test case.",
    );
  }
}

function parseInputs(given: readonly string[]): Record<string, unknown> {
  const pairs = given.map((text) => {
    const split = text.indexOf("=");
    if (split > 0) return [text.slice(0, split), valueOfInput(text.slice(split + 1))] as const;
    throw new ToolError(
      "INVALID_INPUT",
      `--input ${text} is not name=value.`,
      "For example --input user=anna.",
    );
  });
  return Object.fromEntries(pairs);
}

function valueOfInput(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
