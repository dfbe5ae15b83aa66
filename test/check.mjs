// `npm run check`: the tests, and beside them, one after the other, what looks at the sources only. The tests leave the
// cores idle half of the time while they wait for browsers and processes. Ends with 1 when anything failed.
import { spawn } from "node:child_process";

const lookers = ["types", "lint", "deps", "unused"];
const print = (text) => process.stdout.write(`${text}\n`);

/** Runs a script of package.json; `output` is what it wrote, unless it is shown as it comes. */
function runScript(name, { shown }) {
  const started = performance.now();
  const child = spawn("npm", ["run", "-s", name], {
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

async function look() {
  const ended = [];
  for (const name of lookers) {
    const end = await runScript(name, { shown: false });
    print(`[check] ${name} ${end.ok ? "passed" : "FAILED"} after ${end.seconds} s`);
    if (!end.ok) print(end.output.trim());
    ended.push(end);
  }
  return ended;
}

const [tests, looked] = await Promise.all([runScript("vitest", { shown: true }), look()]);
const failed = looked.filter(({ ok }) => !ok);
// What failed early stands far above the tests' last lines.
for (const { name, output } of failed) print(`\n[check] ${name} FAILED:\n${output.trim()}`);
process.exitCode = tests.ok && failed.length === 0 ? 0 : 1;
