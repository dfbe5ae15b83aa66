import { fileURLToPath } from "node:url";
import { loadSkills, parseSkill } from "@labwright/skills";
import { expect, test } from "vitest";

const tools = new Set(["get_compatible_hosts", "execute_testcase", "get_device_info"]);
const good = `name: demo
version: 1.0.0
description: A skill.
triggers: [demo]
system_prompt: Do it.
tools: [get_compatible_hosts, execute_testcase]
timeout_seconds: 60
`;

test("the shipped skills load without a problem", () => {
  const { skills, problems } = loadSkills(fileURLToPath(new URL("../../skills", import.meta.url)), tools);
  expect(problems).toEqual([]);
  expect(skills.map(({ name }) => name)).toContain("run-testcase");
});

test("an unknown tool and a wrong folder are both named with their lines", () => {
  const { skill, problems } = parseSkill(
    good.replace("execute_testcase", "execute_test"),
    "s.yaml",
    "other",
    tools,
  );
  expect(skill).toBeUndefined();
  expect(problems.map(({ line, message }) => [line, message])).toEqual([
    [6, "tools.1: no tool is called execute_test"],
    [1, "name: must be its folder's, other"],
  ]);
});

test("unknown keys, bad versions and too few tools are all reported at once", () => {
  const bad = good.replace("1.0.0", "1").replace(", execute_testcase", "").concat("extra: 1\n");
  const { problems } = parseSkill(bad, "s.yaml", "demo", tools);
  expect(problems.map(({ message }) => message).join("\n")).toMatch(/version[\s\S]*tools[\s\S]*extra/);
});

test("broken YAML is a problem with its line, not an exception", () => {
  const { problems } = parseSkill("name: [", "s.yaml", "demo", tools);
  expect(problems[0]).toMatchObject({ file: "s.yaml" });
});
