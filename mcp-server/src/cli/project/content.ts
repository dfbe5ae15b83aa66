import { readFileSync } from "node:fs";
import { basename, dirname, extname, join, relative } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { isFeature } from "../../config/places.ts";
import { packageFolder } from "../../storage/engine/packageFolder.ts";

/** The content of a file of apps and tests, as far as it is known before loading. */
export type Content = {
  text: string;
  /** The app that the file is. */
  app: string | undefined;
  /** The app that its tests are of. */
  of: string | undefined;
  hasTests: boolean;
  /** The names of its app and tests. */
  names: string[];
};

const named = z.string().optional().catch(undefined);
const test = z.looseObject({ name: named }).catch({ name: undefined });
const tests = z.array(test).optional().catch([]);
const schema = z
  .looseObject({ name: named, app: named, userinterface_name: named, tests, testcases: tests })
  .catch({
    name: undefined,
    app: undefined,
    userinterface_name: undefined,
    tests: undefined,
    testcases: undefined,
  });

/** The line of a feature that names its app, and lines such as `Scenario: name`. */
const appLine = /^[^\S\n]*#[^\S\n]*app[^\S\n]*:(.+)$/im;
const nameLines = /^[^\S\n]*[^\s:"|#@][^:"|\n]*:(.+)$/gm;

/** A feature that names no app is of the only one in its project. */
const featureContent = (text: string): Content => ({
  ...{ text, app: undefined, of: appLine.exec(text)?.[1]?.trim(), hasTests: true },
  names: [...text.matchAll(nameLines)].flatMap(([, name = ""]) => name.trim() || []),
});

/** A file that cannot be read has tests: the import says what is wrong with it. */
export function contentOf(path: string): Content {
  let value: unknown;
  let text = "";
  try {
    text = readFileSync(path, "utf8");
    if (isFeature(path)) return featureContent(text);
    value = parse(text, { uniqueKeys: false });
  } catch {
    return { text, app: undefined, of: undefined, hasTests: true, names: [] };
  }
  const { name, ...content } = schema.parse(value);
  const has = (...keys: string[]) => keys.some((key) => key in content);
  const own = [...(content.tests ?? []), ...(content.testcases ?? [])].flatMap(({ name }) => name ?? []);
  const isApp = has("nodes", "edges", "tree", "models");
  return {
    text,
    app: isApp ? name : undefined,
    of: content.app ?? content.userinterface_name,
    hasTests: has("steps", "blocks", "tests", "testcases"),
    names: [name ?? basename(path, extname(path)), ...own],
  };
}

/** The files of `others` that the given files name, and those that these name in turn: apps, set-ups and called tests. */
export function filesNamedBy(files: readonly string[], others: readonly string[]): string[] {
  let left = others.filter((path) => !files.includes(path)).map((path) => ({ path, ...contentOf(path) }));
  const needed: string[] = [];
  const given = left.length > 0 ? files.map((path) => ({ path, ...contentOf(path) })) : [];
  const needsAnyApp = given.some(({ path, of }) => isFeature(path) && of === undefined);
  let texts = given.map(({ text }) => text);
  while (texts.length > 0) {
    const isNamed = ({ names, app }: Content) =>
      (needsAnyApp && app !== undefined) || names.some((name) => texts.some((text) => hasName(text, name)));
    const found = left.filter(isNamed);
    left = left.filter((file) => !found.includes(file));
    needed.push(...found.map(({ path }) => path));
    texts = found.map(({ text }) => text);
  }
  return needed;
}

/** As whole words, in any case. A name that means something else in the text loads a file that is not needed, which is harmless. */
function hasName(text: string, name: string): boolean {
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`, "iu").test(text);
}

/** The path from a file to the schema that editors check it by; undefined where the package does not lie in the project. */
export function schemaPath(file: string, kind: "app" | "test", cwd: string): string | undefined {
  const schema = join(packageFolder(), "dist", "schemas", `${kind}.schema.json`);
  if (!schema.startsWith(join(cwd, "node_modules"))) return undefined;
  return relative(dirname(file), schema).replaceAll("\\", "/");
}
