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

/** Of a phone in use; an hour unless said. */
const memoryMinutes = Number(process.env.PHONE_MINUTES ?? 60);

const npm = (...args) => ({ program: "npm", args });
const npx = (...args) => ({ program: "npx", args });

async function expectIn(log, pattern, what) {
  if (!pattern.test(await readFile(log, "utf8"))) throw new Error(`its output has no ${what}`);
}

/** Inspector gives a server it starts only the environment that it is told to. */
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

/** The README's two commands. */
const readmeCommands = [
  {
    name: "demo",
    what: "npm run demo exits 0 with a table of verdicts",
    prints: true,
    start: () => npm("run", "demo"),
    check: (log) => expectIn(log, /^\S+ +.+ (passed|failed) +[\d.]+ s/m, "verdicts"),
  },
  {
    name: "test",
    what: "npm test passes and its last lines count the tests",
    start: () => npm("test"),
    check: (log) => expectIn(log, /Tests +.*\d+ passed/, "count of tests"),
  },
];

/**
 * What each step's issue accepts, in its words. `start` gives the program; `check` looks at its output once it ended with
 * exit code 0 and throws what is missing.
 */
export const steps = {
  1: [
    {
      name: "demo",
      what: "npm run demo exits 0 with a table of verdicts and readable reports",
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
      what: "npm test passes and its last lines count the tests",
      start: () => npm("test"),
      async check(log) {
        const lines = (await readFile(log, "utf8")).trim().split("\n").slice(-40).join("\n");
        if (!/Tests +.*\d+ passed/.test(lines)) throw new Error("its last lines do not count the tests");
      },
    },
    {
      name: "inspector",
      what: "npx labwright mcp serves Inspector's --cli --method tools/list --strict",
      start: inspector,
      check: (log) => expectIn(log, /execute_testcase/, "execute_testcase"),
    },
    {
      name: "interop",
      what: "a 1.x client and a 2.x client both run a test case over stdio and HTTP",
      start: () => npm("run", "interop"),
      check: (log) => expectIn(log, /Tests +.*\d+ passed/, "count of tests"),
    },
    {
      name: "bench",
      what: "npm run bench prints the table, and every goal is met",
      prints: true,
      start: () => npm("run", "bench", "--", "--step", "1"),
      check: (log) => expectIn(log, /goals met/, "table"),
    },
  ],
  2: [
    {
      name: "test",
      what: "npm test passes, and with it SKILLS.md is current and every skill has 2 to 8 tools",
      start: () => npm("test"),
      async check(log) {
        const lines = (await readFile(log, "utf8")).trim().split("\n").slice(-40).join("\n");
        if (!/Tests +.*\d+ passed/.test(lines)) throw new Error("its last lines do not count the tests");
      },
    },
    {
      name: "interop",
      what: "npm run interop -- --all: conformance, Inspector, a 1.x client, mcp-remote, the bundle, Claude Code",
      start: () => npm("run", "interop", "--", "--all"),
      check: (log) => expectIn(log, /Tests +.*\d+ passed/, "count of tests"),
    },
    {
      name: "deployments",
      what: "a deployment every minute with max 2 executions starts two, through a daemon killed with -9",
      start: () => npx("vitest", "run", "test/services/runs/deployments"),
      check: (log) => expectIn(log, /Tests +.*\d+ passed/, "count of tests"),
    },
    {
      name: "scripts",
      what: "a script that forks, fills memory, writes outside or calls the network is stopped and reported",
      start: () =>
        npx("vitest", "run", "test/controllers/programs/sandbox.test.ts", "test/tools/scripts.test.ts"),
      check: (log) => expectIn(log, /Tests +.*\d+ passed/, "count of tests"),
    },
    {
      name: "bench",
      what: "npm run bench prints the table of step 2, and every goal is met",
      prints: true,
      start: () => npm("run", "bench", "--", "--step", "2"),
      check: (log) => expectIn(log, /goals met/, "table"),
    },
  ],
  3: [
    {
      name: "test",
      what: "npm test passes",
      start: () => npm("test"),
      async check(log) {
        const lines = (await readFile(log, "utf8")).trim().split("\n").slice(-40).join("\n");
        if (!/Tests +.*\d+ passed/.test(lines)) throw new Error("its last lines do not count the tests");
      },
    },
    {
      name: "goto",
      what: "Run goto script on a device: by the command line, REST and Socket.IO, through the built product",
      start: () => npx("vitest", "run", "test/e2e/agent.test.ts"),
      check: (log) => expectIn(log, /Tests +.*\d+ passed/, "count of tests"),
    },
    {
      name: "skills",
      what: "each of the fifteen skills end to end by a scripted model on a device of the lab",
      start: () => npx("vitest", "run", "test/agents/skills"),
      check: (log) => expectIn(log, /Tests +.*\d+ passed/, "count of tests"),
    },
    {
      name: "agents",
      what: "the monitor's six triggers, order, kill -9, each finding once; the analyzer on its seeded suite",
      start: () => npx("vitest", "run", "test/agents/runtime", "test/services/runs/judgement"),
      check: (log) => expectIn(log, /Tests +.*\d+ passed/, "count of tests"),
    },
    {
      name: "bench",
      what: "npm run bench prints the table of the agents, which step 6 has set anew, and every goal is met",
      prints: true,
      start: () => npm("run", "bench", "--", "--only", "agent"),
      check: (log) => expectIn(log, /goals met/, "table"),
    },
  ],
  4: [
    {
      name: "test",
      what: "npm test passes, and its last lines name the ten slowest files",
      start: () => npm("test"),
      async check(log) {
        await expectIn(log, /Slowest 10: /, "slowest files");
        await expectIn(log, /Tests +.*\d+ passed/, "count of tests");
      },
    },
    {
      name: "bench",
      what: "npm run bench prints the table of step 4, and every goal is met",
      prints: true,
      start: () => npm("run", "bench", "--", "--step", "4"),
      check: (log) => expectIn(log, /goals met/, "table"),
    },
    {
      name: "faults",
      what: "the tests see each fault of test/plantedFaults, planted one by one",
      prints: true,
      start: () => ({ program: "node", args: ["test/plantedFaults/run.mjs"] }),
      check: (log) => expectIn(log, /(\d+) of \1 faults caught/, "count of faults caught"),
    },
    {
      name: "survival",
      what: "15 minutes of kill -9, clock jumps and two hosts: nothing lost, left over, held, misdirected or open",
      prints: true,
      start: () => ({
        program: process.execPath,
        args: [join("test", "faults", "run.mjs"), "--minutes", "15"],
      }),
      async check(log) {
        for (const what of ["lost acknowledged rows", "orphan processes", "stuck leases", "open runs"])
          await expectIn(log, new RegExp(`^${what} +0$`, "m"), `line "${what} 0"`);
        await expectIn(log, /^wrong-device actions +0$/m, 'line "wrong-device actions 0"');
      },
    },
  ],
  5: [
    ...readmeCommands,
    {
      name: "widgets",
      what: "the widgets of others: each task through the tools, judged by the widget's own state",
      prints: true,
      start: () => ({ program: process.execPath, args: [join("test", "widgets", "run.mjs")] }),
      check: (log) => expectIn(log, /^widgets done: \d+ of 40/m, "table"),
    },
    {
      name: "held-out",
      what: "ten widgets of other kinds, chosen by kind alone after the forty",
      prints: true,
      start: () => ({ program: process.execPath, args: [join("test", "widgets", "run.mjs"), "--held-out"] }),
      check: (log) => expectIn(log, /^held-out widgets done: \d+ of 10/m, "table"),
    },
    {
      name: "names",
      what: "names on all widgets' pages are Chromium's accessible names, or the committed table explains why not",
      start: () => ({
        program: "env",
        args: ["WIDGETS=all", "npx", "vitest", "run", "test/widgets/names.test.ts"],
      }),
      check: (log) => expectIn(log, /Tests +.*40 passed/, "forty widgets"),
    },
    {
      name: "todomvc",
      what: "the demo's test cases on every TodoMVC that runs offline: the verdicts of the committed table",
      prints: true,
      start: () => ({ program: process.execPath, args: [join("test", "todomvc", "run.mjs")] }),
      check: (log) => expectIn(log, /^verdicts as in the table: (\d+) of \1$/m, "comparison"),
    },
    {
      name: "bench",
      what: "npm run bench prints the table of step 5, and every goal is met",
      prints: true,
      start: () => npm("run", "bench", "--", "--step", "5"),
      check: (log) => expectIn(log, /goals met/, "table"),
    },
  ],
  6: [
    ...readmeCommands,
    {
      name: "segments",
      what: "a chat of 60 turns over four skills and back, on each model of the price file, is refused nothing",
      start: () => npx("vitest", "run", "test/agents/sessions/segments.test.ts"),
      check: (log) => expectIn(log, /Tests +.*\d+ passed/, "count of tests"),
    },
    {
      name: "bench",
      what: "npm run bench prints the table of step 6, and every goal is met",
      prints: true,
      start: () => npm("run", "bench", "--", "--step", "6"),
      check: (log) => expectIn(log, /goals met/, "table"),
    },
  ],
  7: [
    ...readmeCommands,
    {
      name: "portable",
      what: "one test case passes unchanged on the web and on the simulated device",
      start: () => npx("vitest", "run", "test/tools/portable.test.ts"),
      check: (log) => expectIn(log, /Tests +.*\d+ passed/, "count of tests"),
    },
    {
      name: "alerts",
      what: "an alert rises and resolves from findings with both frames, on a daemon that is then killed with -9",
      start: () => npx("vitest", "run", "test/server/watching.test.ts"),
      check: (log) => expectIn(log, /Tests +.*\d+ passed/, "count of tests"),
    },
    {
      name: "doctor",
      what: "labwright doctor speaks for every configured driver",
      start: () => npx("vitest", "run", "test/cli/cli.test.ts", "-t", "labwright doctor"),
      check: (log) => expectIn(log, /Tests +.*\d+ passed/, "count of tests"),
    },
    {
      name: "bench",
      what: "npm run bench prints the table of step 7, and every goal is met",
      prints: true,
      start: () => npm("run", "bench", "--", "--step", "7"),
      check: (log) => expectIn(log, /goals met/, "table"),
    },
  ],
  8: [
    ...readmeCommands,
    {
      name: "packed",
      what: "in an empty folder: the README word by word, init and run to a verdict, hosts that install writes start it",
      start: () => npx("vitest", "run", "test/package"),
      check: (log) => expectIn(log, /Tests +.*\d+ passed/, "count of tests"),
    },
    {
      name: "bench",
      what: "npm run bench prints the table of step 8, and every goal is met",
      prints: true,
      start: () => npm("run", "bench", "--", "--step", "8"),
      check: (log) => expectIn(log, /goals met/, "table"),
    },
  ],
  9: [
    ...readmeCommands,
    {
      name: "phone",
      what: "npm run demo -- --device android: the shop's tree and a test case on a simulated phone",
      prints: true,
      start: () => npm("run", "demo", "--", "--device", "android"),
      check: (log) => expectIn(log, /^shop +a lamp is bought +passed/m, "verdict"),
    },
    {
      name: "drops",
      what: "200 taps under connections that break at random: none done twice, none acknowledged is missing",
      start: () => ({
        program: "env",
        args: ["PHONE_TAPS=200", "npx", "vitest", "run", "test/faults/phoneDrops.test.ts"],
      }),
      check: (log) => expectIn(log, /seed \d+: 200 taps, /, "200 taps"),
    },
    {
      name: "skips",
      what: "the driver as it comes, without the steps that ours leaves out",
      start: () => ({ program: process.execPath, args: [join("test", "accept", "wholeDriver.mjs")] }),
      check: (log) => expectIn(log, /^the whole driver: a session, a tree, /m, "last line"),
    },
    {
      name: "memory",
      what: `${memoryMinutes} minutes of one phone in use (PHONE_MINUTES): the daemon's memory, its driver included, stays`,
      prints: true,
      limitMs: (memoryMinutes + 15) * 60_000,
      start: () => ({
        program: process.execPath,
        args: [join("test", "accept", "phoneMemory.mjs"), "--minutes", String(memoryMinutes)],
      }),
      check: (log) => expectIn(log, /^memory of the last quarter/m, "comparison"),
    },
    {
      name: "bench",
      what: "npm run bench prints the table of step 9, and every goal is met",
      prints: true,
      start: () => npm("run", "bench", "--", "--step", "9"),
      check: (log) => expectIn(log, /goals met/, "table"),
    },
  ],
};
