import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { exampleOf } from "#mcp-server/cli/commands/toolArguments.ts";
import { table } from "#mcp-server/cli/terminal.ts";
import { toWireTool } from "#mcp-server/registry/wire.ts";
import { tools } from "#mcp-server/tools/index.ts";
import { run, temporaryFolder } from "./fixtures.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const folder = temporaryFolder();
const data = join(folder.path, "data");
const labwright = (args: string[], columns?: number) =>
  run(args, {
    env: { LABWRIGHT_DATA_DIR: data },
    cwd: folder.path,
    ...(columns !== undefined && { columns }),
  });
afterAll(async () => {
  await labwright(["stop"]);
  folder.remove();
});

describe("labwright list", () => {
  it("says of empty lists what to do, and of devices who holds them", async () => {
    mkdirSync(data, { recursive: true });
    writeFileSync(join(data, "labwright.yaml"), "devices: [{ name: box, model: simulated, count: 2 }]\n");
    expect((await labwright(["list", "apps"])).out).toMatch(/^No apps yet\..*labwright init/);
    expect((await labwright(["list", "tests"])).out).toMatch(/^No tests yet\..*labwright init/);
    expect((await labwright(["list", "runs"])).out).toMatch(/^No runs yet\..*labwright run/);
    await labwright(["take", "box"]);
    await labwright(["do", "press", "HOME"]);
    const { code, out } = await labwright(["list", "devices"]);
    expect(code).toBe(0);
    expect(out).toMatch(/^DEVICE +MODEL +STATE +STATUS\n\S*\/box +simulated +held by folder\/\S+ until .*\n/);
    expect(out).toMatch(/^\S*\/box-2 +simulated +free$/m);
    await labwright(["release"]);
    expect((await labwright(["list", "runs"])).out).toMatch(
      /^RUN +STARTED \(UTC\) .*\n\w{12} +[-\d]{10} [:\d]{8} +passed +actions/,
    );
    const json = await labwright(["list", "devices", "--json"]);
    expect(JSON.parse(json.out)).toMatchObject({ hosts: [{ devices: [{ model: "simulated" }, {}] }] });
  });

  it("ends with 2 for what cannot be listed, and names what can", async () => {
    expect(await labwright(["list", "tets"])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/devices,\s+apps, tests, runs/),
    });
  });
});

describe("labwright tools", () => {
  it("lists every tool with its skill and no line wider than the terminal", async () => {
    const { code, out } = await labwright(["tools"], 100);
    expect(code).toBe(0);
    for (const { name } of tools) expect(out).toMatch(new RegExp(`^  ${name} `, "m"));
    expect(out.split("\n").filter((line) => line.length > 100 && /\S \S/.test(line))).toEqual([]);
  });

  it("says what a tool takes, and the nearest of one that is not there", async () => {
    const { out } = await labwright(["tools", "navigate_to_node"]);
    expect(out).toMatch(/^navigate_to_node: \w/);
    expect(out).toMatch(/^node +string +required +Id or label$/m);
    expect(out).toMatch(/^wait_ms +integer +.*default 45000$/m);
    expect(await labwright(["tools", "navigate_to_nod"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("navigate_to_node"),
    });
  });

  it.each(
    tools.map((tool) => [tool.name, tool] as const),
  )("the example of %s is a call that it takes", (_, tool) => {
    const example = exampleOf(toWireTool(tool).inputSchema);
    expect(tool.input.safeParse(example).error?.issues ?? []).toEqual([]);
  });
});

it("a table is as wide as its cells, and its last column goes on below itself", () => {
  const rows = [
    ["a", "one two three four five six seven"],
    ["long name", "x"],
  ];
  expect(table(["who", "what"], rows)).toBe(
    "WHO        WHAT\na          one two three four five six seven\nlong name  x\n",
  );
  expect(table(["who", "what"], rows, 26)).toContain(
    "a          one two three\n           four five six\n           seven\n",
  );
});
