import type { Hostile } from "./hostile.ts";

const lines = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join("\n");
const laughs = (depth: number, width: number): string =>
  lines(depth, (level) => {
    const items = level === 0 ? '"lol"' : `*l${level - 1}`;
    return `l${level}: &l${level} [${Array.from({ length: width }, () => items).join(", ")}]`;
  });
/** Each with two sizes. */
const makers: Readonly<Record<string, (size: number) => string>> = {
  "many keys": (size) => lines(size * 4, (index) => `k${index}: 1`),
  "many keys in braces": (size) => `{${lines(size * 4, (index) => `k${index}: 1,`)}}`,
  "the same key": (size) => lines(size, () => "k: 1"),
  "a list of lists": (size) => "[".repeat(size) + "]".repeat(size),
  "an open list of lists": (size) => "[".repeat(size),
  "objects in objects": (size) => "{a: ".repeat(size) + "}".repeat(size),
  "a list in each line": (size) => "- ".repeat(size),
  "deeper with each line": (size) => lines(Math.sqrt(size) * 3, (index) => `${" ".repeat(index)}a:`),
  "keys that are objects": (size) => "? ".repeat(size),
  "names for everything": (size) => `[${lines(size, (index) => `&a${index} 1,`)}]`,
  "one name a thousand times": (size) => `a: &a [1, 2]\nb: [${lines(size, () => "*a,")}]`,
  "names of names": (size) => laughs(Math.round(Math.log10(size) * 3), 9),
  "merged keys": (size) => `a: &a {x: 1}\nb:\n${lines(size, () => "  <<: *a")}`,
  "a long text": (size) => `name: ${"x".repeat(size * 20)}`,
  "a text of many lines": (size) => `name: >\n${lines(size, () => "  word\n")}`,
  "a text of escapes": (size) => `name: "${"\\u0041".repeat(size * 3)}"`,
  comments: (size) => `${lines(size, () => "# a comment")}\nname: x`,
  documents: (size) => lines(size, () => "---\na: 1"),
  directives: (size) => `${lines(size, (index) => `%TAG !t${index}! tag:x,2000:`)}\n--- a`,
  "tabs and carriage returns": (size) => `name: x\n${"\t\r\n \r".repeat(size)}`,
};

export const hostileDocuments = (): Hostile[] =>
  Object.entries(makers).flatMap(([name, make]) =>
    [5_000, 100_000].map((size) => ({
      kind: "document",
      name: `${name}, ${size}`,
      calls: [{ tool: "import_userinterface", input: { yaml: make(size) } }],
    })),
  );
