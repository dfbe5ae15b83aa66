import { readdirSync, readFileSync } from "node:fs";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, test } from "vitest";
import { instructions } from "#mcp-server/registry/catalogue.ts";
import { capabilities, domains } from "#mcp-server/registry/tool.ts";
import { toWireTool } from "#mcp-server/registry/wire.ts";
import { tools } from "#mcp-server/tools/index.ts";

/** What one tool may cost a model that is given it, in o200k tokens of {name, description, input_schema}. */
const tokensPerTool = 250;
/** All tools together. */
const tokensOfAll = 10_500;

const room = new URL("../../mcp-server/src/tools/", import.meta.url);
const testsRoom = new URL("../", import.meta.url);
const wire = tools.map(toWireTool);
const tokensOf = ({ name, description, inputSchema }: (typeof wire)[number]) =>
  encode(JSON.stringify({ name, description, input_schema: inputSchema })).length;

test("every domain's file is in the catalogue", () => {
  const index = readFileSync(new URL("index.ts", room), "utf8");
  const files = readdirSync(room).filter((file) => file.endsWith(".ts") && file !== "index.ts");
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) expect(index).toContain(`"./${file}"`);
});

test("names are unique, and verbs and nouns in snake_case", () => {
  const names = tools.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[a-z]+(_[a-z]+)+$|^diagnose$/);
});

test("every capability and every domain has a tool", () => {
  const used = new Set(tools.flatMap((tool) => tool.capabilities));
  expect(capabilities.filter((one) => !used.has(one))).toEqual([]);
  expect(domains.filter((one) => !tools.some(({ domain }) => domain === one))).toEqual([]);
  expect(tools.filter((tool) => tool.capabilities.length === 0)).toEqual([]);
});

test("every tool is named by a test", () => {
  const folders = ["tools", "services", "server", "interop", "e2e"];
  const text = folders
    .flatMap((folder) => testFiles(new URL(`${folder}/`, testsRoom)))
    .filter((file) => !file.pathname.endsWith("catalogue.test.ts"))
    .map((file) => readFileSync(file, "utf8"))
    .join("\n");
  expect(tools.map(({ name }) => name).filter((name) => !text.includes(`"${name}"`))).toEqual([]);
});

test("what a tool leaves out of its listing is one of its arguments", () => {
  const left = tools.flatMap(({ input, unlisted = [] }) => unlisted.filter((name) => !(name in input.shape)));
  expect(left).toEqual([]);
});

test("the server's instructions are under 2 KB", () => {
  expect(Buffer.byteLength(instructions)).toBeLessThan(2_048);
});

describe("each tool", () => {
  test.each(wire.map((tool) => [tool.name, tool] as const))("%s", async (name, tool) => {
    expect(tool.description.length).toBeGreaterThan(10);
    expect(tool.outputSchema.type).toBe("object");
    expect(tool.inputSchema, "OpenAI's clients refuse an input without properties").toHaveProperty(
      "properties",
    );
    expect(tool.annotations.readOnlyHint && tool.annotations.destructiveHint).toBe(false);
    expect(tokensOf(tool)).toBeLessThanOrEqual(tokensPerTool);
    await expect(`${JSON.stringify(tool, null, 2)}\n`).toMatchFileSnapshot(`__schemas__/${name}.json`);
  });
});

test("TOOLS.md is in step with the tools", async () => {
  const rows = wire
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((tool) => {
      const { annotations } = tool;
      const effect = annotations.readOnlyHint
        ? "read"
        : annotations.destructiveHint
          ? "destructive"
          : "write";
      const text = tool.description.replaceAll("|", "\\|");
      return `| \`${tool.name}\` | ${String(tool._meta["dev.labwright/domain"])} | ${effect} | ${tokensOf(tool)} | ${text} |`;
    });
  const total = wire.reduce((sum, tool) => sum + tokensOf(tool), 0);
  expect(total).toBeLessThanOrEqual(tokensOfAll);
  const page = [
    "Every tool, generated from the catalogue by `npm run gen`: do not edit.",
    "",
    `Tokens are o200k over name, description and input schema; all together ${total}.`,
    "",
    "| tool | domain | effect | tokens | what it does |",
    "|---|---|---|---|---|",
    ...rows,
    "",
  ];
  await expect(page.join("\n")).toMatchFileSnapshot("../../mcp-server/TOOLS.md");
});

function testFiles(folder: URL): URL[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory()) return testFiles(new URL(`${entry.name}/`, folder));
    return entry.name.endsWith(".test.ts") ? [new URL(entry.name, folder)] : [];
  });
}
