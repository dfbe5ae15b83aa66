// What a change reaches: the files that differ, and the tests to run for them, the nearest first.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

const git = (...args) =>
  execFileSync("git", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })
    .split("\n")
    .filter(Boolean);

/** Files that differ from the last commit or, when none does, from the upstream branch. Deleted ones are not among them. */
export function changedFiles() {
  const since = (commit) => git("diff", "--name-only", "--relative", "--diff-filter=d", commit);
  const uncommitted = [...since("HEAD"), ...git("ls-files", "--others", "--exclude-standard")];
  if (uncommitted.length > 0) return uncommitted;
  const [base] = git("merge-base", "HEAD", "@{upstream}");
  return since(base);
}

const codeFile = /\.(ts|mts|mjs|js)$/;
const isTest = (file) => file.endsWith(".test.ts");
/** What a file imports at run time; types are for the compiler to judge. */
const importPattern =
  /(?:^|[;\s])(?:import|export)(?!\s+type\b)[\s\w{},*$]*?\(?\s*["']([^"'\n]+)["']|\bfrom\s+["']([^"'\n]+)["']/g;
const typePattern = /^(?:import|export) type [^;]*;/gm;

function importsOf(file) {
  const text = readFileSync(file, "utf8").replace(typePattern, "");
  return [...text.matchAll(importPattern)].flatMap(([, bare, from]) => pathOf(file, bare ?? from) ?? []);
}

function pathOf(file, specifier) {
  if (specifier.startsWith(".")) return normalize(join(dirname(file), specifier.replace(/\?.*/, "")));
  if (specifier.startsWith("#")) return specifier.replace(/^#([\w-]+)\/([^?]*).*/, "$1/src/$2");
  const [, name, part = "index"] = /^@labwright\/([\w-]+)(?:\/(\w+))?$/.exec(specifier) ?? [];
  if (name === undefined) return undefined;
  return [`${name}/src/${part}.ts`, `${name}/src/${part}/index.ts`, `${name}/${part}/index.ts`].find(
    existsSync,
  );
}

/** Test files by how many imports lie between them and a change. Tests of a changed file's own folder come next. */
export function testsReaching(changed) {
  const importers = importersOf(git("ls-files", "--cached", "--others", "--exclude-standard"));
  const distances = new Map(changed.map((file) => [file, 0]));
  // A map that grows while it is read is read to its end: breadth first.
  for (const [file, distance] of distances)
    for (const importer of importers.get(file) ?? [])
      distances.set(importer, distances.get(importer) ?? distance + 1);
  for (const file of changed.flatMap(mirrored)) distances.set(file, distances.get(file) ?? 2.5);
  return [...distances].filter(([file]) => isTest(file));
}

/** Who imports each file. */
function importersOf(files) {
  const importers = new Map();
  for (const file of files.filter((one) => codeFile.test(one) && existsSync(one)))
    for (const target of importsOf(file)) importers.set(target, [...(importers.get(target) ?? []), file]);
  return importers;
}

/** Tests of the folder that mirrors the one of a file: many of them start the built product, which no import shows. */
function mirrored(file) {
  const parts = file.replace(/^(mcp-server|agent-client|controllers)\/(src\/)?/, "").split("/");
  const folders = parts.map((_, count) => join("test", ...parts.slice(0, parts.length - 1 - count)));
  const [nearest] = folders.filter((folder) => folder !== "test" && existsSync(folder));
  return nearest === undefined
    ? []
    : readdirSync(nearest)
        .filter(isTest)
        .map((name) => join(nearest, name));
}

/** Milliseconds of test files when they last ran here, as vitest keeps them. */
function durations() {
  const cache = "node_modules/.vite/vitest";
  const files = existsSync(cache) ? readdirSync(cache).map((name) => join(cache, name, "results.json")) : [];
  const results = files.filter(existsSync).flatMap((file) => JSON.parse(readFileSync(file, "utf8")).results);
  return new Map(results.map(([name, { duration }]) => [name.slice(name.indexOf(":") + 1), duration]));
}

/** What a file costs that has not run here yet, and what loading any costs; a guess. */
const unknownMs = 5_000;
const loadMs = 1_000;

/** The nearest of the tests, the quickest of equally near ones first, that run in about `budgetMs` one after the other. */
export function nearestWithin(tests, budgetMs) {
  const known = durations();
  const costOf = (file) => loadMs + (known.get(file) ?? unknownMs);
  const sorted = tests.toSorted(([a, near], [b, far]) => near - far || costOf(a) - costOf(b));
  let left = budgetMs;
  return sorted
    .map(([file]) => file)
    .filter((file, index) => {
      left -= costOf(file);
      return left >= 0 || index === 0;
    });
}
