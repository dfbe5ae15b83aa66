import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Skill, skillSchema } from "@labwright/skills";
import { onTestFinished } from "vitest";

export const toolNames: ReadonlySet<string> = new Set([
  "get_compatible_hosts",
  "execute_testcase",
  "get_device_info",
]);

const lines = {
  name: "demo",
  version: "1.0.0",
  description: "A skill.",
  triggers: "[demo]",
  system_prompt: "Do it.",
  tools: "[get_compatible_hosts, execute_testcase]",
  timeout_seconds: "60",
};

/** A skill's file, a line for each key. */
export const skillText = (changes: Partial<typeof lines> = {}): string =>
  Object.entries({ ...lines, ...changes })
    .map(([key, value]) => `${key}: ${value}\n`)
    .join("");

export const aSkill = (changes: Partial<Skill> = {}): Skill =>
  skillSchema.parse({
    ...lines,
    triggers: ["demo"],
    tools: ["get_compatible_hosts", "execute_testcase"],
    timeout_seconds: 60,
    ...changes,
  });

/** An empty folder that goes when the test ends. */
export function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "labwright-skills-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A folder of skills that goes when the test ends: each skill's folder and the text of its file. */
export function skillFolder(files: Readonly<Record<string, string>>): string {
  const folder = emptyFolder();
  for (const [name, text] of Object.entries(files)) writeSkill(folder, name, text);
  return folder;
}

export function writeSkill(folder: string, name: string, text: string): void {
  mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, name, "skill.yaml"), text);
}
