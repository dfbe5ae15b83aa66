import { isMap, isScalar, LineCounter, type ParsedNode, parseDocument, visit } from "yaml";

/** One thing wrong with a skill's file; `line` counts from 1. */
export type SkillProblem = { file: string; line: number; message: string };

/** A YAML file as plain data that still knows where each part stands. */
export type Source = {
  value: unknown;
  /** At the value of `path`, or the nearest part around it that is there. */
  problemAt(path: readonly PropertyKey[], message: string): SkillProblem;
  /** At a key of the file's top level. */
  problemAtKey(key: string, message: string): SkillProblem;
};

/** Reads YAML; broken YAML is problems with their lines. */
export function readSource(text: string, file: string): Source | SkillProblem[] {
  const lines = new LineCounter();
  // The library's own check of keys compares each with all others.
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false });
  const problem = (offset: number, message: string): SkillProblem => ({
    file,
    line: lines.linePos(offset).line,
    message,
  });
  if (document.errors.length > 0)
    return document.errors.map(({ pos, message }) => problem(pos[0], message.split("\n")[0] ?? message));
  const repeated = repeatedKeys(document);
  if (repeated.length > 0) return repeated.map((offset) => problem(offset, "Map keys must be unique"));
  let value: unknown;
  try {
    value = document.toJS();
  } catch (error) {
    // An alias without its anchor, or one that unfolds without end.
    return [problem(0, error instanceof Error ? error.message : String(error))];
  }
  return {
    value,
    problemAt: (path, message) => problem(offsetOf(document, path), message),
    problemAtKey: (key, message) => problem(keyOffset(document.contents, key), message),
  };
}

/** The offset of each key that its map has already. */
function repeatedKeys(document: ReturnType<typeof parseDocument>): number[] {
  const offsets: number[] = [];
  visit(document, {
    Map(_, { items }) {
      const known = new Set<unknown>();
      for (const { key } of items) {
        const name = isScalar(key) ? key.value : key;
        if (known.has(name) && hasRange(key)) offsets.push(key.range[0]);
        known.add(name);
      }
    },
  });
  return offsets;
}

function offsetOf(document: ReturnType<typeof parseDocument>, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length--) {
    const node: unknown = document.getIn(path.slice(0, length), true);
    if (hasRange(node)) return node.range[0];
  }
  return 0;
}

function keyOffset(contents: ParsedNode | null, key: string): number {
  if (!isMap(contents)) return 0;
  const pair = contents.items.find((item) => isScalar(item.key) && String(item.key.value) === key);
  return hasRange(pair?.key) ? pair.key.range[0] : 0;
}

const hasRange = (node: unknown): node is { range: [number, number, number] } =>
  typeof node === "object" && node !== null && "range" in node && Array.isArray(node.range);
