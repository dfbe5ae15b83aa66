import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { z } from "zod";
import { cliPages } from "./cliPages.ts";
import { type AgentShell, cliTasks, type Task } from "./cliTasks.ts";
import { servePages } from "./pages.ts";
import type { Measurement } from "./rows.ts";
import { browserArgs, type Sides } from "./sides.ts";

const exec = promisify(execFile);
const endedSchema = z.object({ stdout: z.string(), stderr: z.string() });

/** One of the two command lines, in a folder of its own. */
type CommandLine = {
  name: "ours" | "theirs";
  /** As it is typed. */
  program: string;
  folder: string;
  skill: string;
  run(words: readonly string[]): Promise<string>;
  /** Gives the browser back behind a task; not counted. */
  leave(): Promise<unknown>;
};

/** What one task cost: tokens of commands, replies and files that were read; and commands. `last` is the last reply. */
type Cost = { tokens: number; trips: number; last: string };

const quoted = (word: string): string => (/^[\w./:@=+#-]+$/.test(word) ? word : JSON.stringify(word));

/** The newest snapshot of theirs in the folder. */
async function newestSnapshot(folder: string): Promise<string> {
  const files = (await readdir(join(folder, ".playwright-cli"))).filter((file) => file.endsWith(".yml"));
  return readFile(join(folder, ".playwright-cli", files.sort().at(-1) ?? ""), "utf8");
}

function metered({ run, program, folder }: CommandLine): { shell: AgentShell; cost: Cost } {
  const cost = { tokens: 0, trips: 0, last: "" };
  const shell: AgentShell = {
    async run(...words) {
      const reply = await run(words);
      cost.tokens += countTokens([program, ...words.map(quoted)].join(" ")) + countTokens(reply);
      cost.trips += 1;
      cost.last = reply;
      return reply;
    },
    async read() {
      const text = await newestSnapshot(folder);
      cost.tokens += countTokens(text);
      return text;
    },
  };
  return { shell, cost };
}

/** Does the task, and sees that its check holds, and holds no more on another page. */
async function costOf(task: Task, line: CommandLine, url: (path: string) => string): Promise<Cost> {
  const { shell, cost } = metered(line);
  const side = task[line.name];
  try {
    await side.act(shell, url(task.path));
    if (!(await side.check(shell)))
      throw new Error(`the check of ${task.name} does not hold (${line.name}): ${cost.last}`);
    const spent = { ...cost };
    await line.run([
      line.name === "ours" ? "do" : "--raw",
      line.name === "ours" ? "open" : "goto",
      url("/small"),
    ]);
    if (await side.check(shell)) throw new Error(`the check of ${task.name} holds anywhere (${line.name})`);
    return spent;
  } finally {
    await line.leave();
  }
}

/** What a program prints on both outputs, whatever its exit code. */
async function printed(
  file: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const { stdout, stderr } = await exec(file, [...args], { cwd, env }).catch((error: unknown) =>
    endedSchema.parse(error),
  );
  return `${stdout}${stderr}`.trim();
}

async function ourLine(sides: Sides, dataDir: string): Promise<CommandLine> {
  const folder = join(sides.scratch, "ours");
  const bin = join(sides.scratch, "bin");
  for (const dir of [folder, bin]) await mkdir(dir, { recursive: true });
  // On the PATH, so that the skill names it as an agent types it.
  await symlink(join(sides.root, "mcp-server", "bin", "labwright.js"), join(bin, "labwright"));
  const env = {
    ...process.env,
    PATH: `${bin}${delimiter}${process.env.PATH ?? ""}`,
    LABWRIGHT_DATA_DIR: dataDir,
    LABWRIGHT_CONFIG: await sides.newConfig({}),
  };
  const run = (words: readonly string[]) => printed("labwright", words, folder, env);
  await run(["install", "claude-code", "--skills"]);
  const skill = await readFile(join(folder, ".claude", "skills", "labwright", "SKILL.md"), "utf8");
  return { name: "ours", program: "labwright", folder, skill, run, leave: () => run(["release"]) };
}

async function theirLine(sides: Sides): Promise<CommandLine> {
  const folder = join(sides.scratch, "theirs");
  await mkdir(join(folder, ".playwright"), { recursive: true });
  const launchOptions = { executablePath: sides.browser, args: browserArgs, headless: true };
  await writeFile(
    join(folder, ".playwright", "cli.config.json"),
    JSON.stringify({ browser: { browserName: "chromium", isolated: true, launchOptions } }),
  );
  const { resolve } = createRequire(join(sides.root, "test", "package.json"));
  const cli = resolve("@playwright/cli/package.json");
  const core = createRequire(cli).resolve("playwright-core/package.json");
  const program = join(dirname(cli), "playwright-cli.js");
  const skill = await readFile(
    join(dirname(core), "lib", "tools", "skills", "playwright-cli", "SKILL.md"),
    "utf8",
  );
  const run = (words: readonly string[]) =>
    printed(process.execPath, [program, ...words], folder, process.env);
  return { name: "theirs", program: "playwright-cli", folder, skill, run, leave: () => run(["close"]) };
}

/**
 * Five tasks from a shell next to `@playwright/cli`. Counted are the o200k tokens of all that an agent types and reads, the
 * skill once, and the commands. Theirs prints the least it can (`--raw`), and a snapshot's file is read with the command
 * that wrote it. Its `run-code` is left out: a program in Playwright's language is what both could be given.
 */
export async function measureCli(sides: Sides, note: (line: string) => void): Promise<Measurement[]> {
  const shop = await readFile(join(sides.root, "test", "shop", "index.html"), "utf8");
  const site = await servePages({ ...cliPages, "/shop": shop });
  const dataDir = await sides.newDataDir();
  try {
    const lines = [await ourLine(sides, dataDir), await theirLine(sides)];
    const sums = lines.map(({ skill }) => countTokens(skill));
    note(`cli: the skills have ${sums.join(" and ")} tokens (theirs second).`);
    for (const task of cliTasks) {
      const costs: Cost[] = [];
      for (const line of lines) costs.push(await costOf(task, line, site.url));
      for (const [at, { tokens }] of costs.entries()) sums[at] = (sums[at] ?? 0) + tokens;
      const shown = costs.map(({ tokens, trips }) => `${tokens} tokens in ${trips} commands`);
      note(`cli: ${task.name}: ${shown.join(", theirs ")}`);
    }
    const [ours = Number.NaN, theirs = Number.NaN] = sums;
    return [{ id: "cli.tokens", ours, theirs, runs: cliTasks.length }];
  } finally {
    await site.close();
    await sides.stopDaemon(dataDir);
  }
}
