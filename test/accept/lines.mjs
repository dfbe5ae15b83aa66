import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** Longer than the fifteen minutes that `npm test` may take on a slow machine. */
const usualLimitMs = 45 * 60_000;

/** Runs a program in `cwd` with its output in `log`; gives its exit code, or throws when it takes too long. */
export async function run({ program, args, cwd, env, log, limitMs = usualLimitMs }) {
  const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  const file = createWriteStream(log);
  child.stdout.pipe(file, { end: false });
  child.stderr.pipe(file, { end: false });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    process.kill(-child.pid, "SIGKILL");
  }, limitMs);
  const code = await new Promise((resolve, reject) => child.once("close", resolve).once("error", reject));
  clearTimeout(timer);
  await new Promise((resolve) => file.end(resolve));
  if (isLate) throw new Error(`it took more than ${limitMs} ms`);
  return code;
}

const memoryMinutes = Number(process.env.PHONE_MINUTES ?? 60);

const npm = (...args) => ({ program: "npm", args });

async function expectIn(log, pattern, what) {
  if (!pattern.test(await readFile(log, "utf8"))) throw new Error(`its output has no ${what}`);
}

/** Inspector gives a server it starts only the environment that it is reported to. */
const inspector = ({ clone, dataDir }) => ({
  program: process.execPath,
  args: [
    join(clone, "node_modules", ".bin", "mcp-inspector"),
    "--cli",
    "npx",
    "labwright",
    "mcp",
    "-e",
    `LABWRIGHT_DATA_DIR=${dataDir}`,
    "--method",
    "tools/list",
    "--strict",
  ],
});

const script = (...parts) => ({ program: process.execPath, args: parts });
const tests = (...args) => ({ program: "npx", args: ["vitest", "run", ...args] });
const testsPassed = (log) => expectIn(log, /Tests +.*\d+ passed/, "count of tests");

/** The bench of one step, whose table is shown. */
const benchOf = (step, what) => ({
  name: `step${step}`,
  steps: [step],
  what: `npm run bench -- --step ${step}: ${what}`,
  prints: true,
  start: () => npm("run", "bench", "--", "--step", String(step)),
  check: (log) => expectIn(log, /goals met/, "table"),
});

/**
 * `start` returns the program. `check` reads its output after exit code 0, and throws what is missing. A line without `steps` belongs
 * to every step.
 */
export const lines = [
  {
    name: "demo",
    what: "npm run demo exits 0 with a table of verdicts and readable reports",
    prints: true,
    start: () => npm("run", "demo"),
    async check(log) {
      await expectIn(log, /^\S+ +.+ (passed|failed) +[\d.]+ s/m, "verdicts");
      const dir = /^Reports: (.+)$/m.exec(await readFile(log, "utf8"))?.[1];
      if (dir === undefined) throw new Error("its output has no folder of reports");
      const report = await readFile(join(dir, "vanillajs", "report.html"), "utf8");
      if (!report.includes("Escape cancels an edit")) throw new Error("the report lacks a test case");
    },
  },
  {
    name: "test",
    what: "npm test passes and counts its tests",
    start: () => npm("test"),
    check: testsPassed,
  },
  {
    name: "phone",
    steps: [9, 11],
    what: "npm run demo -- --device android: the shop's tree and a test case on a simulated phone",
    prints: true,
    start: () => npm("run", "demo", "--", "--device", "android"),
    check: (log) => expectIn(log, /^shop +a lamp is bought +passed/m, "verdict"),
  },
  {
    name: "tv",
    steps: [15],
    what: "npm run demo -- --device tv: three test cases on Kodi, by its picture and its keys",
    prints: true,
    start: () => npm("run", "demo", "--", "--device", "tv"),
    check: (log) => expectIn(log, /^kodi +a channel plays, and its key brings the next +passed/m, "verdict"),
  },
  {
    name: "walks",
    steps: [15],
    what: "50 walks through Kodi by its picture and keys, each ends where the judge says",
    start: () => ({ ...tests("test/devices/tv/kodiApp.test.ts", "--retry=0"), more: { KODI_WALKS: "50" } }),
    check: testsPassed,
  },
  {
    name: "sound",
    steps: [15],
    what: "nine of ten phrases are heard and one other sentence at most, and speech in six languages and in none of eight other sounds",
    prints: true,
    start: () => script("test/accept/sound.mjs"),
    check: (log) => expectIn(log, /^wrong: none/m, "clean result"),
  },
  {
    name: "bench",
    what: "npm run bench prints the table, and every goal is met",
    prints: true,
    start: () => npm("run", "bench"),
    check: (log) => expectIn(log, /goals met/, "table"),
  },
  benchOf(12, "planning, latencies, ten tasks and a plan's run meet their goals"),
  benchOf(13, "API tests, critic, router and investigations find what they must, and no more"),
  benchOf(14, "walls cost what they may, and no hostile input holds another call"),
  benchOf(15, "pictures, texts, zaps and watched streams meet their goals"),
  benchOf(16, "the page, live pictures, the report and recorded flows meet their goals"),
  {
    name: "inspector",
    steps: [1],
    what: "npx labwright mcp serves Inspector's --cli --method tools/list --strict",
    start: inspector,
    check: (log) => expectIn(log, /execute_testcase/, "execute_testcase"),
  },
  {
    name: "interop",
    steps: [1, 2],
    what: "npm run interop -- --all: conformance, Inspector, a 1.x client, mcp-remote, the bundle, Claude Code",
    start: () => npm("run", "interop", "--", "--all"),
    check: testsPassed,
  },
  {
    name: "faults",
    steps: [4, 11],
    what: "the tests see each fault of test/plantedFaults, planted one by one",
    prints: true,
    start: () => script(join("test", "plantedFaults", "run.mjs")),
    check: (log) => expectIn(log, /(\d+) of \1 faults caught/, "count of faults caught"),
  },
  {
    name: "survival",
    steps: [4],
    what: "15 minutes of kill -9, clock jumps and two hosts: nothing lost, left over, held, misdirected or open",
    prints: true,
    start: () => script(join("test", "faults", "run.mjs"), "--minutes", "15"),
    async check(log) {
      for (const what of ["lost acknowledged rows", "orphan processes", "stuck leases", "open runs"])
        await expectIn(log, new RegExp(`^${what} +0$`, "m"), `line "${what} 0"`);
      await expectIn(log, /^wrong-device actions +0$/m, 'line "wrong-device actions 0"');
    },
  },
  {
    name: "held-out",
    steps: [5],
    what: "ten widgets of other kinds, chosen by kind alone after the forty",
    prints: true,
    start: () => script(join("test", "widgets", "run.mjs"), "--held-out"),
    check: (log) => expectIn(log, /^held-out widgets done: \d+ of 10/m, "table"),
  },
  {
    name: "names",
    steps: [5],
    what: "names on all widgets' pages are Chromium's accessible names, or the committed table explains why not",
    start: () => ({ ...tests("test/widgets/names.test.ts"), more: { WIDGETS: "all" } }),
    check: (log) => expectIn(log, /Tests +.*40 passed/, "forty widgets"),
  },
  {
    name: "todomvc",
    steps: [5],
    what: "the demo's test cases on every TodoMVC that runs offline: the verdicts of the committed table",
    prints: true,
    start: () => script(join("test", "todomvc", "run.mjs")),
    check: (log) => expectIn(log, /^verdicts as in the table: (\d+) of \1$/m, "comparison"),
  },
  {
    name: "drops",
    steps: [9],
    what: "200 taps under connections that break at random: none done twice, none acknowledged is missing",
    start: () => ({ ...tests("test/faults/phoneDrops.test.ts"), more: { PHONE_TAPS: "200" } }),
    check: (log) => expectIn(log, /seed \d+: 200 taps, /, "200 taps"),
  },
  {
    name: "skips",
    steps: [9],
    what: "the phone's driver without the steps that ours leaves out",
    start: () => script(join("test", "accept", "wholeDriver.mjs")),
    check: (log) => expectIn(log, /^the whole driver: a session, a tree, /m, "last line"),
  },
  {
    name: "memory",
    steps: [9],
    what: `${memoryMinutes} minutes (PHONE_MINUTES) of one phone in use: the memory of the daemon and its driver does not grow`,
    prints: true,
    limitMs: (memoryMinutes + 15) * 60_000,
    start: () => script(join("test", "accept", "phoneMemory.mjs"), "--minutes", String(memoryMinutes)),
    check: (log) => expectIn(log, /^memory of the last quarter/m, "comparison"),
  },
];
