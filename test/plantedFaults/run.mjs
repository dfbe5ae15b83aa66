// Plants each fault of faults.json in a copy of the committed tree, one at a time, and runs the tests that must see it.
import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const faults = JSON.parse(readFileSync(new URL("faults.json", import.meta.url), "utf8"));
const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const { values } = parseArgs({ options: { only: { type: "string" } } });
/** Numbers as they are printed, such as 3,17. */
const numbers = values.only?.split(",").map(Number);
const chosen = faults
  .map((fault, at) => ({ ...fault, number: at + 1 }))
  .filter(({ number }) => numbers?.includes(number) ?? true);
const tree = join(mkdtempSync(join(tmpdir(), "labwright-faults-")), "tree");
const git = (...args) => execFileSync("git", args, { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
const print = (text) => process.stdout.write(`${text}\n`);

/** The packages, the add-ons and the build of this checkout; our own workspaces, which are links among them, are those of the copy. */
function linkPackages() {
  const [from, to] = [join(root, "node_modules"), join(tree, "node_modules")];
  mkdirSync(join(to, "@labwright"), { recursive: true });
  for (const name of readdirSync(from))
    if (name !== "@labwright" && name !== ".cache" && name !== ".vite")
      symlinkSync(join(from, name), join(to, name));
  for (const name of readdirSync(join(from, "@labwright")))
    symlinkSync(join(tree, name), join(to, "@labwright", name));
  symlinkSync(join(root, ".setup"), join(tree, ".setup"));
  for (const folder of ["mcp-server/dist", "mcp-server/node_modules"])
    if (existsSync(join(root, folder))) cpSync(join(root, folder), join(tree, folder), { recursive: true });
}

/** How many tests ran in these files, and the names of those that failed. */
function runTests(files) {
  const report = join(tree, "report.json");
  rmSync(report, { force: true });
  const args = [
    join(tree, "node_modules/vitest/vitest.mjs"),
    "run",
    ...files,
    "--retry=0",
    "--bail",
    "1",
    "--reporter",
    "json",
    "--outputFile",
    report,
  ];
  const { CI: _, ...env } = process.env;
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: tree, env, encoding: "utf8" });
  const { numTotalTests = 0, testResults = [] } = existsSync(report)
    ? JSON.parse(readFileSync(report, "utf8"))
    : {};
  if (numTotalTests === 0) return { ran: 0, failed: [], said: `${stdout}${stderr}` };
  // A hook that fails leaves its tests out: then the file has failed.
  const failed = testResults.flatMap(({ status, name, assertionResults }) => {
    const tests = assertionResults.filter((test) => test.status === "failed").map(({ fullName }) => fullName);
    return status === "failed" && tests.length === 0 && assertionResults.length > 0 ? [name] : tests;
  });
  return { ran: numTotalTests, failed, said: testResults.map(({ message }) => message).join("\n") };
}

/** Says what came of it; true when the tests saw it. */
function plant({ number, what, file, text, planted, tests }) {
  const path = join(tree, file);
  const source = readFileSync(path, "utf8");
  const say = (outcome) => print(`${String(number).padStart(2)} ${outcome}: ${what}`);
  if (source.split(text).length !== 2) {
    say(`NOT PLANTED, since ${file} does not hold the text once`);
    return false;
  }
  writeFileSync(
    path,
    source.replace(text, () => planted),
  );
  try {
    const { ran, failed, said } = runTests(tests);
    const [first] = failed;
    say(first === undefined ? `NOT CAUGHT by ${ran} tests` : `caught by "${first}"`);
    if (ran === 0) print(said.trim().split("\n").slice(-10).join("\n"));
    return first !== undefined;
  } finally {
    writeFileSync(path, source);
  }
}

let caught = 0;
try {
  git("worktree", "add", "--quiet", "--detach", tree, "HEAD");
  linkPackages();
  const files = [...new Set(chosen.flatMap(({ tests }) => tests))];
  const { ran, failed, said } = runTests(files);
  if (ran === 0 || failed.length > 0)
    throw new Error(`Without a fault these fail: ${failed.join("; ")}\n${said}`);
  print(`${ran} tests of ${files.length} files pass without a fault`);
  for (const fault of chosen) if (plant(fault)) caught += 1;
} finally {
  git("worktree", "remove", "--force", tree);
  rmSync(dirname(tree), { recursive: true, force: true });
}
print(`${caught} of ${chosen.length} faults caught`);
process.exitCode = caught === chosen.length ? 0 : 1;
