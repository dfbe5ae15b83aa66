// `npm run check`: the tests, and next to them, one after the other, what looks at the sources only. The tests leave the
// cores idle half of the time while they wait for browsers and processes. Ends with 1 when anything failed.
// With `--changed`: types, lint of the changed files, and the tests nearest to the change, in about a minute.
import { spawn } from "node:child_process";
import { changedFiles, nearestWithin, testsReaching } from "./changed.mjs";

const print = (text) => process.stdout.write(`${text}\n`);
/** Of the tests of a change, one after the other; several run at once. */
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

async function look(lookers) {
  const ended = [];
  for (const looker of lookers) {
    const end = await runScript(looker, { shown: false });
    print(`[check] ${end.name} ${end.ok ? "passed" : "FAILED"} after ${end.seconds} s`);
    if (!end.ok) print(end.output.trim());
    ended.push(end);
  }
  return ended;
}

/** What `--changed` runs; `tests` is undefined where no test reaches the change. */
function ofChange() {
  const changed = changedFiles();
  const reaching = testsReaching(changed);
  const nearest = nearestWithin(reaching, testsMs);
  const which =
    reaching.length > nearest.length ? `the nearest ${nearest.length} of ${reaching.length}` : "all";
  print(`[check] ${changed.length} changed files; tests that reach them: ${which}`);
  const lint = ["lint", "--no-errors-on-unmatched", "--files-ignore-unknown=true", ...changed];
  return {
    lookers: [["types"], ...(changed.length > 0 ? [lint] : [])],
    tests: nearest.length > 0 ? ["vitest", ...nearest] : undefined,
  };
}

const everything = { lookers: [["types"], ["lint"], ["deps"], ["unused"]], tests: ["vitest"] };
const { lookers, tests: asked } = process.argv.includes("--changed") ? ofChange() : everything;
const [tests, looked] = await Promise.all([
  asked ? runScript(asked, { shown: true }) : { ok: true },
  look(lookers),
]);
const failed = looked.filter(({ ok }) => !ok);
// What failed early stands far above the tests' last lines.
for (const { name, output } of failed) print(`\n[check] ${name} FAILED:\n${output.trim()}`);
process.exitCode = tests.ok && failed.length === 0 ? 0 : 1;
