// `npm run check`: the tests, and at the same time, one after the other, the checks of the sources. Ends with 1 when
// anything failed. With `--changed`: types, lint of the changed files, and the tests nearest to the change, in about a
// minute.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { changedFiles, nearestWithin, testsReaching } from "./changed.mjs";

const print = (text) => process.stdout.write(`${text}\n`);
/** How long the tests of a change may take in all; several run at once. */
const testsMs = 40_000;

/** Runs a script of package.json; `output` is what it wrote, unless it is shown as it comes. */
function runScript([name, ...args], { shown }) {
  const started = performance.now();
  const child = spawn("npm", ["run", "-s", name, ...(args.length > 0 ? ["--", ...args] : [])], {
    stdio: ["ignore", shown ? "inherit" : "pipe", shown ? "inherit" : "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
  return new Promise((resolve) => {
    child.once("error", (error) => resolve({ name, ok: false, seconds: 0, output: error.message }));
    child.once("close", (code) => {
      const seconds = Math.round((performance.now() - started) / 1_000);
      resolve({ name, ok: code === 0, seconds, output });
    });
  });
}

async function runEach(checkers) {
  const ended = [];
  for (const checker of checkers) {
    const end = await runScript(checker, { shown: false });
    print(`[check] ${end.name} ${end.ok ? "passed" : "FAILED"} after ${end.seconds} s`);
    if (!end.ok) print(end.output.trim());
    ended.push(end);
  }
  return ended;
}

/** The checks and tests of `--changed`; `tests` is undefined where no test reaches the change. */
function ofChange() {
  const changed = changedFiles();
  const reaching = testsReaching(changed);
  const nearest = nearestWithin(reaching, testsMs);
  const which =
    reaching.length > nearest.length ? `the nearest ${nearest.length} of ${reaching.length}` : "all";
  print(`[check] ${changed.length} changed files; tests that reach them: ${which}`);
  const lint = ["lint", "--no-errors-on-unmatched", "--files-ignore-unknown=true", ...changed];
  return {
    checkers: [["types"], ...(changed.length > 0 ? [lint, ["words", ...changed]] : [])],
    tests: nearest.length > 0 ? ["vitest", ...nearest] : undefined,
  };
}

/** What `npm run coverage` runs need not run again. */
const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));
const ofCoverage = scripts.coverage.split(" ").filter((word) => word.startsWith("test/"));
const everything = {
  checkers: [["types"], ["lint"], ["words"], ["deps"], ["unused"], ["coverage"]],
  tests: ["vitest", ...ofCoverage.map((path) => `--exclude=${path.endsWith(".ts") ? path : `${path}/**`}`)],
};
const { checkers, tests: asked } = process.argv.includes("--changed") ? ofChange() : everything;
const [tests, checked] = await Promise.all([
  asked ? runScript(asked, { shown: true }) : { ok: true },
  runEach(checkers),
]);
const failed = checked.filter(({ ok }) => !ok);
// A check that failed early is far above the last lines of the tests.
for (const { name, output } of failed) print(`\n[check] ${name} FAILED:\n${output.trim()}`);
process.exitCode = tests.ok && failed.length === 0 ? 0 : 1;
