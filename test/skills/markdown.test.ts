import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { exportSkills, type Skill, skillMarkdown, skillSchema } from "@labwright/skills";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { aSkill, emptyFolder } from "./fixture.ts";

/** The format's own rules: values of the metadata are text. */
const frontSchema = z.strictObject({
  name: z.string().max(64),
  description: z.string().max(1_024),
  "allowed-tools": z.string(),
  metadata: z.record(z.string(), z.string()),
});

function readBack(markdown: string): Skill {
  const [, front = "", body = ""] = /^---\n([\s\S]*?)\n---\n\n([\s\S]*)$/.exec(markdown) ?? [];
  const { metadata, "allowed-tools": allowed, ...head } = frontSchema.parse(parse(front));
  // As a host names the tools of the server that it has as labwright.
  expect(allowed.replaceAll("mcp__labwright__", "")).toBe(metadata.tools);
  expect(allowed.split(" ").every((tool) => tool.startsWith("mcp__labwright__"))).toBe(true);
  return skillSchema.parse({
    ...head,
    version: metadata.version,
    tools: metadata.tools?.split(" "),
    triggers: metadata.triggers?.split("\n"),
    platform: metadata.platform ?? null,
    requires_device: metadata.requires_device === "true",
    timeout_seconds: Number(metadata.timeout_seconds),
    system_prompt: body,
  });
}

test.each([
  ["plain", aSkill()],
  ["full", aSkill({ platform: "stb", requires_device: true, triggers: ["a, b", "c: d # e", "l'été"] })],
  [
    "odd",
    aSkill({ description: '- "quoted": #1\nand --- a line', system_prompt: "First.\n---\n\n  Second: *x*" }),
  ],
  ["numbers", aSkill({ description: "123", triggers: ["1.0"], timeout_seconds: 86_400 })],
  ["long", aSkill({ description: "word ".repeat(200).trim() })],
])("a %s skill comes back whole from its SKILL.md", (_, skill) => {
  expect(readBack(skillMarkdown(skill))).toEqual(skill);
});

test("an export writes one folder for each skill, in its highest version", () => {
  const folder = join(emptyFolder(), "made", "here");
  const skills = [aSkill({ version: "1.0.0" }), aSkill({ version: "1.1.0" }), aSkill({ name: "other" })];
  const files = exportSkills(skills, folder);
  expect(files.map((file) => relative(folder, file))).toEqual([
    join("demo", "SKILL.md"),
    join("other", "SKILL.md"),
  ]);
  expect(files.map((file) => readBack(readFileSync(file, "utf8")).version)).toEqual(["1.1.0", "1.0.0"]);
  expect(exportSkills(skills, folder)).toEqual(files);
});
