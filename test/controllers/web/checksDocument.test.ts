import { readFileSync } from "node:fs";
import { stateWords } from "@labwright/controllers";
import { expect, it } from "vitest";
import { makeWebDevice } from "./webDevice.ts";

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
const document = read("mcp-server/docs/checks.md");

/** Names of the methods of the interfaces of Playwright's assertions on pages, elements and answers. */
function assertionsOfPlaywright(): string[] {
  const types = read("node_modules/playwright/types/test.d.ts");
  const parts = ["APIResponse", "Locator", "Page"].map((kind) => {
    const from = types.indexOf(`interface ${kind}Assertions {`);
    return types.slice(from, types.indexOf("\n}", from));
  });
  const names = parts.flatMap((part) =>
    [...part.matchAll(/^ {2}(to[A-Z]\w*)\(/gm)].map(([, name]) => name ?? ""),
  );
  return [...new Set(names)].sort();
}

it("the table of checks has a row for each assertion of Playwright and for nothing else", () => {
  const rows = [...document.matchAll(/^\| (to\w+) \|/gm)].map(([, name]) => name);
  expect(rows.length).toBeGreaterThan(20);
  expect(rows.sort()).toEqual(assertionsOfPlaywright());
});

it("the table of checks names every check of a browser, and no other", async () => {
  const device = await makeWebDevice();
  const own = device.web.checks.map(({ name }) => name);
  const commands = device.web.commands.map(({ name }) => name);
  const named = new Set([...document.matchAll(/`([a-z]+(?:_[a-z]+)*)[`:]/g)].map(([, name]) => name ?? ""));
  expect(own.filter((name) => !named.has(name))).toEqual([]);
  const params = device.web.checks.flatMap(({ input }) => Object.keys(input.shape));
  const known = new Set([
    ...own,
    ...commands,
    ...params,
    "api_request",
    "expect_status",
    "negate",
    "timeout_ms",
    "condition",
    "exact",
    "pattern",
    "expect",
    "ratio",
    ...stateWords,
  ]);
  expect([...named].filter((name) => !known.has(name))).toEqual([]);
  await device.close();
});
