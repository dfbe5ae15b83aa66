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
import type { RunTerminal } from "./connection.ts";

/** A test that did not pass; `path` is that of the failed step. */
export type Fault = {
  name: string;
  file: string | undefined;
  path: string | undefined;
  message: string;
};

/** The line by which GitHub Actions shows a fault at its step in the test's file. Empty elsewhere. */
export function annotationText(fault: Fault, { env = {}, cwd }: Pick<RunTerminal, "env" | "cwd">): string {
  if (env.GITHUB_ACTIONS !== "true") return "";
  const message = escapeData(`${fault.name}: ${fault.message}`);
  if (fault.file === undefined) return `::error::${message}\n`;
  const path = resolve(cwd, fault.file);
  // GitHub finds files from the root of the repository.
  const file = relative(env.GITHUB_WORKSPACE || cwd, path).replaceAll("\\", "/");
  return `::error file=${escapeProperty(file)},line=${lineOf(path, fault)}::${message}\n`;
}

const escapeData = (text: string) =>
  text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
const escapeProperty = (text: string) => escapeData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");

/** The line of the failed step; of its test where the step is in another file, and 1 where the test is not found. */
function lineOf(path: string, { name, path: stepPath = "" }: Fault): number {
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

function testOf({ contents }: Document, name: string, fileName: string): YAMLMap | undefined {
  if (!isMap(contents)) return undefined;
  for (const key of ["tests", "testcases"]) {
    const tests = contents.get(key);
    const found = isSeq(tests) && tests.items.find((test) => isMap(test) && test.get("name") === name);
    if (isMap(found)) return found;
  }
  return (contents.get("name") ?? fileName) === name ? contents : undefined;
}

/** A step without an id is `s1`, `s2`. Steps in a loop or a called test follow after a slash. */
function stepOf(test: YAMLMap, path: string): unknown {
  const [id = ""] = path.replace(/^attempt\d+\//, "").split(/[/[]/);
  const steps = test.get("steps", true) ?? test.get("blocks", true);
  if (!isSeq(steps)) return undefined;
  const own = steps.items.find((step) => isMap(step) && hasId(step, id));
  const [, number] = /^s(\d+)(?:_\d+)?$/.exec(id) ?? [];
  return own ?? (number === undefined ? undefined : steps.items[Number(number) - 1]);
}

/** The id is next to the command, or among its arguments. */
const hasId = (step: YAMLMap, id: string): boolean =>
  step.get("id") === id ||
  step.items.some(({ key, value }) => isScalar(key) && isMap(value) && value.get("id") === id);
