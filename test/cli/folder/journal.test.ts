import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { note, readJournal } from "#mcp-server/cli/folder/journal.ts";
import { temporaryFolder } from "../fixtures.ts";

vi.setConfig({ testTimeout: 60_000 });

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const press = (key: string) => ({ press_key: { key } });
const keysIn = (cwd: string) =>
  readJournal(cwd).flatMap(({ steps }) => steps.map((step) => JSON.stringify(step)));

it("commands that run at the same time lose none of their lines, and mix none", async () => {
  const { path } = folder;
  const script = join(path, "journal.mjs");
  await build({
    ...{ entryPoints: ["mcp-server/src/cli/folder/journal.ts"], outfile: script },
    ...{ bundle: true, platform: "node", format: "esm" },
  });
  const program = `
    import { note } from ${JSON.stringify(script)};
    const [, name] = process.argv;
    process.stdin.once("data", () => {
      for (let at = 0; at < 100; at++)
        note(${JSON.stringify(path)}, { session: "lease", steps: [{ press_key: { key: name + at, text: "x".repeat(5_000) } }] });
      process.exit();
    });
    process.stdout.write("ready");`;
  const names = ["a", "b", "c"];
  const commands = names.map((name) => spawn(process.execPath, ["--input-type=module", "-e", program, name]));
  await Promise.all(commands.map(({ stdout }) => once(stdout, "data")));
  const ended = commands.map((command: ChildProcess) => once(command, "exit"));
  for (const { stdin } of commands) stdin.write("go");
  expect(await Promise.all(ended)).toEqual(names.map(() => [0, null]));
  const keys = readJournal(path).map(({ steps: [step] }) => String(Object(step?.press_key).key));
  for (const name of names)
    expect(keys.filter((key) => key.startsWith(name))).toEqual(
      Array.from({ length: 100 }, (_, at) => `${name}${at}`),
    );
});

it("a long journal is put aside when a device is taken again, and the one before it goes", () => {
  const { path } = folder;
  for (const session of ["first", "second", "third"])
    for (let at = 0; at < 500; at++) note(path, { session, steps: [press(`${session} ${at}`)] });
  expect(keysIn(path)).toHaveLength(1_000);
  expect(keysIn(path)[0]).toBe(JSON.stringify(press("second 0")));
  expect(keysIn(path).at(-1)).toBe(JSON.stringify(press("third 499")));
  expect(existsSync(join(path, ".labwright/.gitignore"))).toBe(true);
});
