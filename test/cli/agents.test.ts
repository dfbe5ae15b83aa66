import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { runCommand } from "#mcp-server/cli/main.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "labwright-agents-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function run(args: readonly string[], env: Record<string, string> = {}) {
  let [out, err] = ["", ""];
  const code = await runCommand([...args, "--data-dir", folder], {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    env,
    cwd: folder,
    signal: new AbortController().signal,
  });
  return { code, out, err };
}

it("says of each who it is, what starts it and what it can do; those that work by themselves are off", async () => {
  const { code, out } = await run(["agents", "list"]);
  expect(code).toBe(0);
  expect(out).toMatch(/^Atlas \(assistant\): interactive, default, enabled$/m);
  expect(out).toMatch(/^ {2}started by\n {4}a message of yours\n {2}skills: run-script, .*, and yours$/m);
  expect(out).toMatch(/^Guardian \(monitor\): autonomous, off$/m);
  expect(out).toMatch(/^ {4}alert\.blackscreen \(critical\): incident-response$/m);
  expect(out).toMatch(/^ {4}schedule\.health_check \(normal, at "0 \* \* \* \*"\): health-check$/m);
});

it("lists them as the configuration changes them, as JSON in one line with --json", async () => {
  writeFileSync(join(folder, "labwright.yaml"), "agents: { agents: { monitor: { enabled: true } } }\n");
  const { out } = await run(["agents", "list", "--json"]);
  const rows = z.array(z.looseObject({ name: z.string(), enabled: z.boolean() })).parse(JSON.parse(out));
  expect(rows.map(({ name, enabled }) => [name, enabled])).toEqual([
    ["analyzer", false],
    ["assistant", true],
    ["critic", true],
    ["monitor", true],
    ["planner", true],
  ]);
  expect(out.trimEnd()).not.toContain("\n");
});

it("names the file and line of what is wrong with the user's own, lists the others, and ends with 1", async () => {
  writeFileSync(join(folder, "mine.yaml"), "name: mine\nnickname: Mine\nmode: loud\n");
  const { code, out, err } = await run(["agents", "list"], { LABWRIGHT_AGENTS_DIR: folder });
  expect(code).toBe(1);
  expect(err).toContain(`${join(folder, "mine.yaml")}:3: mode: `);
  expect(out).toContain("Atlas (assistant)");
  expect(out).not.toContain("Mine");
});

it("says where the agents' own process went", async () => {
  const { code, err } = await run(["agent"]);
  expect(code).toBe(2);
  expect(err).toMatch(/part of the server.*labwright serve.*monitor\.enabled/s);
});

it("checks what the configuration says of agents with file, line and what to do", async () => {
  const file = join(folder, "labwright.yaml");
  writeFileSync(file, "agents:\n  modells: []\n  api:\n    port: 7334\n");
  const { code, err } = await run(["agents", "list"]);
  expect(code).toBe(2);
  expect(err).toMatch(/labwright\.yaml:2:\d+.*unknown key "modells"; did you mean "models"/);
  expect(err).toMatch(/labwright\.yaml:4:\d+.*agents are on the server's port; set server\.port/);
});
