import type { Command } from "commander";
import { expect, it } from "vitest";
import { createProgram } from "#mcp-server/cli/program.ts";
import { run } from "./fixtures.ts";

const signal = new AbortController().signal;
const program = createProgram({ out() {}, err() {}, env: {}, cwd: ".", signal }, () => {});

/** The commands that do something, by all words that name them; without those that only say what replaced them. */
function leavesOf(command: Command, path = ""): string[] {
  const shown = new Set(command.createHelp().visibleCommands(command));
  const below = command.commands.filter((one) => shown.has(one));
  if (below.length === 0) return [path];
  return below.flatMap((one) => leavesOf(one, `${path} ${one.name()}`.trim()));
}

it.each(leavesOf(program))("labwright %s has an example of its own, and fits the terminal", async (path) => {
  const { code, out, err } = await run([...path.split(" "), "--help"], { columns: 72 });
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const [, examples = ""] = out.split("\nExamples:\n");
  expect(examples).toContain(`  labwright ${path}`);
  expect(out.split("\n").filter((line) => line.length > 72 && !line.startsWith("  labwright "))).toEqual([]);
});

it("the help of all commands is grouped by task, with an example of each group", async () => {
  const { code, out } = await run(["--help"], { columns: 72 });
  expect(code).toBe(0);
  expect([...out.matchAll(/^(\S.*):$/gm)].map(([, name]) => name)).toEqual([
    ...["Options", "Run tests", "Drive a device by hand", "List what is available", "Serve AI assistants"],
    ...["Talk with agents", "Look after the server", "Commands", "Examples"],
  ]);
  for (const path of leavesOf(program)) expect(out).toMatch(new RegExp(`^ {2}${path.split(" ")[0]}\\b`, "m"));
  expect(Math.max(...out.split("\n").map((line) => line.length))).toBeLessThanOrEqual(72);
});
