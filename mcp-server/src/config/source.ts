import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type ParsedNode,
  parseDocument,
  visit,
} from "yaml";
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

type Place = { line: number; column: number };
/** Where a value stands, its keys, and what is below it. */
type Places = { at: Place; keys?: Map<string, Place>; below?: Map<string, Places> };
/** A {@link Source} as data, which can be sent from a thread. */
export type ParsedYaml = { file: string; value: unknown; problems: Problem[]; places: Places };

/** Aliases may repeat a value this often; a "billion laughs" file is a problem, not a hang. */
const maxAliasCount = 100;
const mostValues = 50_000;
const mostLevels = 100;
const mostProblems = 100;

/** `numberOf` gives the value of a number as it is written in the file; a JavaScript number when left out. */
export const parseSource = (file: string, text: string, numberOf?: (written: string) => unknown): Source =>
  sourceOf(parseYaml(file, text, numberOf));

/** What {@link parseSource} makes, as data. Values are JSON's and what `numberOf` gives. */
export function parseYaml(file: string, text: string, numberOf?: (written: string) => unknown): ParsedYaml {
  const lines = new LineCounter();
  // Its own check of keys compares each with all others.
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false });
  if (numberOf) readNumbers(document, numberOf);
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const walk = new Walk(placeAt);
  for (const { pos, message } of document.errors.slice(0, mostProblems))
    walk.add(pos[0], message.split(" at line ")[0] ?? message);
  const empty: Places = { at: { line: 1, column: 1 } };
  const places = document.contents === null ? empty : walk.placesOf(document.contents, 1);
  const problems = walk.problems.map((problem) => ({ file, path: "", ...problem }));
  let value: unknown = {};
  try {
    value = problems.length === 0 ? (document.toJS({ maxAliasCount }) ?? {}) : {};
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    problems.push({ file, ...places.at, path: "", message });
  }
  return { file, value, problems, places };
}

/** What a file says is quoted short, and without characters that steer a terminal. */
const longestText = 1_000;
const plain = (text: string): string =>
  (text.length > longestText ? `${text.slice(0, longestText)}…` : text).replace(/(?!\n)\p{Cc}/gu, "�");

export function sourceOf({ file, value, problems, places }: ParsedYaml): Source {
  return {
    value,
    problems,
    problem(path, message, key) {
      let nearest = places;
      let isWhole = true;
      for (const part of path) {
        const next = nearest.below?.get(String(part));
        isWhole &&= next !== undefined;
        if (next === undefined) break;
        nearest = next;
      }
      const ofKey = key === undefined || !isWhole ? undefined : nearest.keys?.get(key);
      return { file, ...(ofKey ?? nearest.at), path: plain(pathText(path)), message: plain(message) };
    },
  };
}

function readNumbers(document: Document, numberOf: (written: string) => unknown): void {
  visit(document, {
    Scalar(key, node) {
      if (key !== "key" && typeof node.value === "number" && node.source !== undefined)
        node.value = numberOf(node.source);
    },
  });
}

/** Notes the place of each value, and names keys that are there twice and what is beyond the bounds. */
class Walk {
  readonly problems: (Place & { message: string })[] = [];
  private values = 0;

  constructor(private readonly placeAt: (offset: number) => Place) {}

  add(offset: number, message: string): void {
    if (this.problems.length < mostProblems) this.problems.push({ ...this.placeAt(offset), message });
  }

  placesOf(node: ParsedNode, level: number): Places {
    const [offset] = node.range;
    const places: Places = { at: this.placeAt(offset) };
    this.values += 1;
    if (this.values === mostValues + 1)
      this.add(offset, `There are more than ${mostValues} values; split the file`);
    if (this.values > mostValues || isScalar(node) || isAlias(node)) return places;
    if (level > mostLevels) this.add(offset, `It is nested deeper than ${mostLevels} levels`);
    else if (isMap(node)) this.addPairs(node.items, places, level + 1);
    else if (isSeq(node))
      places.below = new Map(node.items.map((item, at) => [`${at}`, this.placesOf(item, level + 1)]));
    return places;
  }

  private addPairs(
    items: readonly { key: ParsedNode; value: ParsedNode | null }[],
    places: Places,
    level: number,
  ): void {
    const known = new Set<unknown>();
    places.keys = new Map();
    places.below = new Map();
    for (const { key, value } of items) {
      const name = isScalar(key) ? key.value : key;
      if (known.has(name)) this.add(key.range[0], "Map keys must be unique");
      known.add(name);
      places.keys.set(String(name), this.placeAt(key.range[0]));
      if (isNode(value)) places.below.set(String(name), this.placesOf(value, level));
    }
  }
}
