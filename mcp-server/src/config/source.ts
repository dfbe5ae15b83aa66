import { isMap, isNode, isScalar, LineCounter, parseDocument, visit } from "yaml";
import { pathText } from "../domain/schemaProblems.ts";

/** One thing wrong in the configuration. `line` and `column` count from 1; a problem of the environment has none. */
export type Problem = { file: string; line?: number; column?: number; path: string; message: string };

export type Path = readonly PropertyKey[];

/** A parsed YAML file that knows where each value stands. */
export type Source = {
  value: unknown;
  problems: Problem[];
  /** A problem of the value at `path`, or of the nearest thing above it that exists; `key` points at one of its keys. */
  problem(path: Path, message: string, key?: string): Problem;
};

/** Aliases may repeat a value this often; a "billion laughs" file is a problem, not a hang. */
const maxAliasCount = 100;

/** `numberOf` gives the value of a number as it is written in the file; a JavaScript number when left out. */
export function parseSource(file: string, text: string, numberOf?: (written: string) => unknown): Source {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true });
  if (numberOf) readNumbers(document, numberOf);
  const place = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const problems: Problem[] = document.errors.map((error) => ({
    file,
    ...place(error.pos[0]),
    path: "",
    message: error.message.split(" at line ")[0] ?? error.message,
  }));
  const problem = (path: Path, message: string, key?: string): Problem => ({
    file,
    ...place(key === undefined ? offsetOf(document, path) : keyOffset(document, path, key)),
    path: pathText(path),
    message,
  });
  let value: unknown = {};
  try {
    value = problems.length === 0 ? (document.toJS({ maxAliasCount }) ?? {}) : {};
  } catch (error) {
    problems.push(problem([], error instanceof Error ? error.message : String(error)));
  }
  return { value, problems, problem };
}

type Document = ReturnType<typeof parseDocument>;

function readNumbers(document: Document, numberOf: (written: string) => unknown): void {
  visit(document, {
    Scalar(key, node) {
      if (key !== "key" && typeof node.value === "number" && node.source !== undefined)
        node.value = numberOf(node.source);
    },
  });
}

function nodeAt(document: Document, path: Path): unknown {
  return path.length === 0 ? document.contents : document.getIn(path, true);
}

function offsetOf(document: Document, path: Path): number {
  for (let length = path.length; length >= 0; length--) {
    const node = nodeAt(document, path.slice(0, length));
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}

function keyOffset(document: Document, path: Path, key: string): number {
  const node = nodeAt(document, path);
  const pair = isMap(node)
    ? node.items.find(({ key: k }) => isScalar(k) && String(k.value) === key)
    : undefined;
  return isScalar(pair?.key) && pair.key.range ? pair.key.range[0] : offsetOf(document, path);
}
