import { readFileSync } from "node:fs";
import { basename, extname, relative, resolve } from "node:path";
import {
  type Document,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type YAMLMap,
} from "yaml";
import { z } from "zod";
import { isFeature } from "../../config/places.ts";
import type { RunTerminal } from "./connection.ts";

/** A test that did not pass; `path` is that of the failed step. */
export type Fault = {
  name: string;
  file: string | undefined;
  path: string | undefined;
  message: string;
};

/** The line by which GitHub Actions shows a fault at its step in the test's file. Empty elsewhere. */
export async function annotationText(
  fault: Fault,
  { env = {}, cwd }: Pick<RunTerminal, "env" | "cwd">,
): Promise<string> {
  if (env.GITHUB_ACTIONS !== "true") return "";
  const message = escapeData(`${fault.name}: ${fault.message}`);
  if (fault.file === undefined) return `::error::${message}\n`;
  const path = resolve(cwd, fault.file);
  // GitHub finds files from the root of the repository.
  const file = relative(env.GITHUB_WORKSPACE || cwd, path).replaceAll("\\", "/");
  return `::error file=${escapeProperty(file)},line=${await lineOf(path, fault)}::${message}\n`;
}

const escapeData = (text: string) =>
  text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
const escapeProperty = (text: string) => escapeData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");

/** The line of the failed step; of its test where the step is in another file, and 1 where the test is not found. */
async function lineOf(path: string, fault: Fault): Promise<number> {
  if (isFeature(path)) return lineInFeature(path, fault);
  const { name, path: stepPath = "" } = fault;
  const lines = new LineCounter();
  let document: Document;
  try {
    document = parseDocument(readFileSync(path, "utf8"), { lineCounter: lines });
  } catch {
    return 1;
  }
  const test = testOf(document, name, basename(path, extname(path)));
  const found = test && (stepOf(test, stepPath) ?? test);
  const offset = isNode(found) ? (found.range?.[0] ?? 0) : 0;
  return Math.max(lines.linePos(offset).line, 1);
}

const testsSchema = z.object({ tests: z.array(z.looseObject({ name: z.string() })) });

async function lineInFeature(path: string, { name, path: stepPath = "" }: Fault): Promise<number> {
  try {
    const { parseFeature } = await import("../../services/apps/files/gherkin.ts");
    const { value, problem } = parseFeature(path, readFileSync(path, "utf8"));
    const test = testsSchema.parse(value).tests.findIndex((one) => one.name === name);
    const [, number] = stepNumber.exec(blockOf(stepPath)) ?? [];
    const step = number === undefined ? [] : ["steps", Number(number) - 1];
    return problem(["tests", test, ...step], "").line ?? 1;
  } catch {
    return 1;
  }
}

function testOf({ contents }: Document, name: string, fileName: string): YAMLMap | undefined {
  if (!isMap(contents)) return undefined;
  for (const key of ["tests", "testcases"]) {
    const tests = contents.get(key);
    const found = isSeq(tests) && tests.items.find((test) => isMap(test) && test.get("name") === name);
    if (isMap(found)) return found;
  }
  return (contents.get("name") ?? fileName) === name ? contents : undefined;
}

const stepNumber = /^s(\d+)(?:_\d+)?$/;
/** The id of the test's own block in the path of a step. */
const blockOf = (path: string) => path.replace(/^attempt\d+\//, "").split(/[/[]/)[0] ?? "";

/** A step without an id is `s1`, `s2`. Steps in a loop or a called test follow after a slash. */
function stepOf(test: YAMLMap, path: string): unknown {
  const id = blockOf(path);
  const steps = test.get("steps", true) ?? test.get("blocks", true);
  if (!isSeq(steps)) return undefined;
  const own = steps.items.find((step) => isMap(step) && hasId(step, id));
  const [, number] = stepNumber.exec(id) ?? [];
  return own ?? (number === undefined ? undefined : steps.items[Number(number) - 1]);
}

/** The id is next to the command, or among its arguments. */
const hasId = (step: YAMLMap, id: string): boolean =>
  step.get("id") === id ||
  step.items.some(({ key, value }) => isScalar(key) && isMap(value) && value.get("id") === id);
