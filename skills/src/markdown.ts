import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import type { Skill } from "./skill.ts";
import { latestSkills } from "./versions.ts";

/** How hosts name a tool of the server that `labwright install` enters as labwright. */
const hostPrefix = "mcp__labwright__";

/**
 * A skill as a SKILL.md of the Agent Skills format: `name`, `description`, `allowed-tools` and `metadata` in the front matter, the system
 * prompt as the body. Values of the metadata are text, as the format asks: tools are parted by spaces, triggers by lines.
 */
export function skillMarkdown(skill: Skill): string {
  const metadata = {
    version: skill.version,
    tools: skill.tools.join(" "),
    triggers: skill.triggers.join("\n"),
    ...(skill.platform === null ? {} : { platform: skill.platform }),
    requires_device: String(skill.requires_device),
    timeout_seconds: String(skill.timeout_seconds),
  };
  const head = {
    name: skill.name,
    description: skill.description,
    "allowed-tools": skill.tools.map((tool) => `${hostPrefix}${tool}`).join(" "),
  };
  const front = stringify({ ...head, metadata }, { lineWidth: 0 });
  return `---\n${front}---\n\n${skill.system_prompt}\n`;
}

/** Writes `<folder>/<name>/SKILL.md` for each skill in its highest version, over one that is there; returns the files. */
export function exportSkills(skills: readonly Skill[], folder: string): string[] {
  return latestSkills(skills).map((skill) => {
    const home = join(folder, skill.name);
    mkdirSync(home, { recursive: true });
    const file = join(home, "SKILL.md");
    writeFileSync(file, skillMarkdown(skill));
    return file;
  });
}
