import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { afterEach, beforeEach, expect, it } from "vitest";
import { shortNames } from "#mcp-server/services/apps/steps/index.ts";
import { run, temporaryFolder } from "../fixtures.ts";

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const install = (...args: string[]) =>
  run(["install", ...args], { env: { HOME: join(folder.path, "home") }, cwd: folder.path });
const skill = (place: string) => join(folder.path, place, "labwright/SKILL.md");

it.each([
  ["claude-code", ".claude/skills"],
  ["codex-cli", ".agents/skills"],
  ["vscode", ".github/skills"],
  ["cursor", ".cursor/skills"],
])("%s gets a skill of all commands, once, and loses it again", async (host, place) => {
  expect(await install(host, "--skills")).toMatchObject({ code: 0, out: expect.stringContaining("now") });
  const text = readFileSync(skill(place), "utf8");
  for (const name of [...Object.keys(shortNames.do), ...Object.keys(shortNames.check)])
    expect(text).toContain(name);
  expect(countTokens(text)).toBeLessThan(750);
  expect(await install(host, "--skills")).toMatchObject({ code: 0, out: expect.stringContaining("already") });
  expect(await install(host, "--skills", "--remove")).toMatchObject({ code: 0 });
  expect(existsSync(join(folder.path, place, "labwright"))).toBe(false);
});

it("a skill that was changed by hand stays, also when it is to be removed", async () => {
  await install("cursor", "--skills");
  const file = skill(".cursor/skills");
  writeFileSync(file, `${readFileSync(file, "utf8")}\nMine\n`);
  for (const more of [[], ["--remove"]]) {
    expect(await install("cursor", "--skills", ...more)).toMatchObject({
      code: 1,
      out: expect.stringContaining("changed by hand"),
    });
    expect(readFileSync(file, "utf8")).toContain("Mine");
  }
});

it("without a name it is for the agents of this folder, and a host without skills is refused with those that have", async () => {
  expect(await install("--skills")).toMatchObject({ code: 2, err: expect.stringContaining("claude-code") });
  mkdirSync(join(folder.path, ".github"));
  expect(await install("--skills", "--dry-run")).toMatchObject({
    code: 0,
    out: expect.stringContaining("would get"),
  });
  expect(existsSync(skill(".github/skills"))).toBe(false);
  await install("--skills");
  expect(existsSync(skill(".github/skills"))).toBe(true);
  expect(existsSync(skill(".claude/skills"))).toBe(false);
  expect(await install("zed", "--skills")).toMatchObject({
    code: 2,
    err: expect.stringContaining("codex-cli"),
  });
});
