import {
  Composer,
  type Document,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type ParsedNode,
  Parser,
  visit,
} from "yaml";

/** One thing wrong in the configuration. A problem of the environment has no place. */
export type Problem = Partial<Place> & { file: string; path: string; message: string };
/** Both count from 1. */
export type Place = { line: number; column: number };

/** What a YAML file says, as data that can be sent from a thread. `places`: where each value stands. */
export type ParsedYaml = { file: string; value: unknown; problems: Problem[]; places: FlatPlaces };

/**
 * Values in the order of the text, each before those below it. Offsets are those of the text. Arrays of numbers and one text:
 * an object per value would hold the receiver of 50,000 of them.
 */
export type FlatPlaces = {
  /** Per value: its offset, its key's offset, and the number of the first value after it and all below it. */
  numbers: Int32Array;
  /** JSON of the keys of all values; an item's key is its index. */
  keys: string;
  lineStarts: number[];
};

/** Aliases may repeat a value this often; a "billion laughs" file is a problem, not a hang. */
const maxAliasCount = 100;
const mostValues = 50_000;
const mostLevels = 100;
const mostProblems = 100;

/** Values are JSON's and what `numberOf` gives for a number as it is written; a JavaScript number when left out. */
export function parseYaml(file: string, text: string, numberOf?: (written: string) => unknown): ParsedYaml {
  const lines = new LineCounter();
  const problems: Problem[] = [];
  const add = (offset: number, message: string) => {
    if (problems.length === mostProblems) return;
    problems.push({ file, ...placeOf(lines, offset), path: "", message });
  };
  const walk = new Walk(add);
  let value: unknown = {};
  try {
    const document = documentOf(text, lines, add);
    if (numberOf) readNumbers(document, numberOf);
    for (const { pos, message } of document.errors) add(pos[0], message);
    walk.add("", 0, document.contents);
    if (problems.length === 0) value = document.toJS({ maxAliasCount }) ?? {};
  } catch (error) {
    if (error instanceof TooMuch) add(error.offset, error.message);
    else add(walk.start, error instanceof Error ? error.message : String(error));
  }
  return { file, value, problems, places: { ...walk.places(), lineStarts: lines.lineStarts } };
}

export function placeOf(lines: LineCounter, offset: number): Place {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}

class TooMuch extends Error {
  constructor(
    message: string,
    readonly offset: number,
  ) {
    super(message);
  }
}

/** The first document of a text. Throws {@link TooMuch} before a text that is too deep or too long is in memory as nodes. */
function documentOf(
  text: string,
  lines: LineCounter,
  add: (offset: number, message: string) => void,
): Document.Parsed {
  // The library's own check of keys compares each with all others.
  const composer = new Composer({ uniqueKeys: false });
  let first: Document.Parsed | undefined;
  for (const document of composer.compose(boundedTokens(text, lines), true, text.length)) {
    if (first) {
      add(document.range[0], "It has more than one document; split the file at its ---");
      break;
    }
    first = document;
  }
  if (!first) throw new Error("The text has no document");
  return first;
}

/** The marks before a value. In braces a value has two of them. */
const marks: ReadonlySet<string> = new Set(["-", ":", ",", "?"]);

function* boundedTokens(text: string, lines: LineCounter) {
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  const counts = new Map<string, number>();
  for (const lexeme of new Lexer().lex(text)) {
    if (marks.has(lexeme)) {
      const count = (counts.get(lexeme) ?? 0) + 1;
      counts.set(lexeme, count);
      if (count > mostValues)
        throw new TooMuch(`There are more than ${mostValues} values; split the file`, parser.offset);
    }
    yield* parser.next(lexeme);
    // A document, its levels, and a scalar.
    if (parser.stack.length > mostLevels + 2)
      throw new TooMuch(`It is nested deeper than ${mostLevels} levels`, parser.offset);
  }
  yield* parser.end();
}

function readNumbers(document: Document, numberOf: (written: string) => unknown): void {
  visit(document, {
    Scalar(key, node) {
      if (key !== "key" && typeof node.value === "number" && node.source !== undefined)
        node.value = numberOf(node.source);
    },
  });
}

/** Notes the place of each value, and names keys that are there twice. */
class Walk {
  private readonly numbers: number[] = [];
  private readonly keys: string[] = [];

  constructor(private readonly problem: (offset: number, message: string) => void) {}

  /** Where the whole value begins. */
  get start(): number {
    return this.numbers[0] ?? 0;
  }

  places(): Pick<FlatPlaces, "numbers" | "keys"> {
    return { numbers: Int32Array.from(this.numbers), keys: JSON.stringify(this.keys) };
  }

  add(key: string, keyOffset: number, node: ParsedNode | null): void {
    const at = this.keys.push(key) - 1;
    this.numbers.push(node?.range[0] ?? keyOffset, keyOffset, 0);
    if (isMap(node)) this.addPairs(node.items);
    else if (isSeq(node)) for (const [index, item] of node.items.entries()) this.add(`${index}`, 0, item);
    this.numbers[at * 3 + 2] = this.keys.length;
  }

  private addPairs(items: readonly { key: ParsedNode; value: ParsedNode | null }[]): void {
    const known = new Set<unknown>();
    for (const { key, value } of items) {
      const name = isScalar(key) ? key.value : key;
      if (known.has(name)) this.problem(key.range[0], "Map keys must be unique");
      known.add(name);
      this.add(String(name), key.range[0], value);
    }
  }
}
