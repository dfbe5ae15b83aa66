import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadSkills, matchSkill } from "@labwright/skills";
import { afterEach, beforeEach, expect, test } from "vitest";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "labwright-examples-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const tools = new Set(["list_hosts", "get_device_info", "list_scripts"]);

function write(name: string, triggers: readonly string[], examples?: string): void {
  mkdirSync(join(folder, name));
  const skill = {
    name,
    version: "1.0.0",
    description: `It does ${name}.`,
    triggers,
    system_prompt: "Do it.",
  };
  const more = { tools: ["list_hosts", "get_device_info"], timeout_seconds: 60 };
  writeFileSync(join(folder, name, "skill.yaml"), JSON.stringify({ ...skill, ...more }));
  if (examples !== undefined) writeFileSync(join(folder, name, "examples.txt"), examples);
}

test("examples beside a skill are learned from as its triggers are, and are no triggers", () => {
  write("feed-fish", ["feed the fish"], "give the guppies their flakes\r\n\n  \nfood for the aquarium\n");
  write("mow-lawn", ["mow the lawn"]);
  const { skills, problems } = loadSkills(folder, tools);
  expect(problems).toEqual([]);
  expect(skills[0]).toMatchObject({
    triggers: ["feed the fish"],
    examples: ["give the guppies their flakes", "food for the aquarium"],
  });
  expect(skills[1]).not.toHaveProperty("examples");
  expect(matchSkill("give the guppies their flakes", skills)).toMatchObject({ skill: { name: "feed-fish" } });
});

test("an eleventh trigger is refused with where it belongs", () => {
  write(
    "feed-fish",
    Array.from({ length: 11 }, (_, at) => `feed fish number ${at}`),
  );
  expect(loadSkills(folder, tools).problems.map(({ message }) => message)).toEqual([
    expect.stringContaining("examples.txt"),
  ]);
});

test("a user's own skill with three triggers is found by them, small words added", () => {
  write("tidy-bench", ["tidy up", "clean the bench", "put things away"]);
  write("feed-fish", ["feed the fish"]);
  const { skills } = loadSkills(folder, tools);
  for (const text of ["tidy up please", "could you clean the bench", "please put the things away now"])
    expect([text, matchSkill(text, skills)]).toMatchObject([text, { skill: { name: "tidy-bench" } }]);
});
