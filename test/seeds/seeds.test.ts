import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string) => readFileSync(join(root, path), "utf8");

const tableSchema = z.strictObject({
  proofs: z.record(z.string(), z.string()),
  rows: z.array(
    z
      .strictObject({
        row: z.int(),
        lines: z.string(),
        is: z.string().min(1),
        at: z.string().optional(),
        says: z.array(z.string()).optional(),
        tests: z.array(z.string()).min(1).optional(),
        adr: z.string().optional(),
      })
      .refine(({ tests, adr, says }) => tests ?? adr ?? says, "needs tests, adr or says"),
  ),
});

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** A test that is skipped is not one. */
function isTest(proof: string): boolean {
  const [, file = "", name = ""] = /^(\S+) > (.+)$/.exec(proof) ?? [];
  const path = `test/${file}.test.ts`;
  if (!existsSync(join(root, path))) return false;
  const call = new RegExp(`(\\w*)\\(\\s*(["'\`])${escaped(name)}\\2,`);
  const [, called] = call.exec(read(path).replace(/\\"/g, '"')) ?? [];
  return called !== undefined && !["skip", "todo", "describe"].includes(called);
}

const adrs = readdirSync(join(root, "mcp-server/docs/adr"));

/** `0019 No phone app`: a paragraph that begins with these words in bold. */
function isParagraph(adr: string): boolean {
  const [number = "", ...words] = adr.split(" ");
  return adrs
    .filter((name) => name.startsWith(`${number}-`))
    .some((name) => read(`mcp-server/docs/adr/${name}`).includes(`\n**${words.join(" ")}.**`));
}

describe.each([
  ["seed000", 110],
  ["seed001", 57],
  ["seed002", 125],
  ["seed003", 87],
  ["seed004", 87],
])("the statements of %s", (name, count) => {
  const { proofs, rows } = tableSchema.parse(parse(read(`test/seeds/${name}.yaml`)));

  test("are all in the table", () => {
    expect(rows.map(({ row }) => row)).toEqual(Array.from({ length: count }, (_, at) => at + 1));
  });

  test("stand in files that are there, and say what they must", () => {
    const missing = rows.filter(({ at, says = [] }) => {
      if (at === undefined) return says.length > 0;
      return !existsSync(join(root, at)) || says.some((text) => !read(at).includes(text));
    });
    expect(missing).toEqual([]);
  });

  test("are proved by tests that are there", () => {
    const named = rows.flatMap(({ tests = [] }) => tests.map((one) => proofs[one] ?? one));
    expect([...new Set(named)].filter((proof) => !isTest(proof))).toEqual([]);
  });

  test("are otherwise where an ADR says so", () => {
    expect(rows.filter(({ adr }) => adr !== undefined && !isParagraph(adr))).toEqual([]);
  });
});
