import { compareVersions, findSkill, latestSkills } from "@labwright/skills";
import { expect, test } from "vitest";
import { aSkill } from "./fixture.ts";

const skills = [
  aSkill({ version: "1.9.0" }),
  aSkill({ version: "1.10.0" }),
  aSkill({ name: "run-testcase" }),
  aSkill({ name: "device-status" }),
];

test("versions are ordered by number, not by letters", () => {
  expect(["1.10.0", "2.0.0", "1.9.9", "1.9.10"].sort(compareVersions)).toEqual([
    "1.9.9",
    "1.9.10",
    "1.10.0",
    "2.0.0",
  ]);
});

test("a name alone is its highest version", () => {
  expect(findSkill(skills, "demo").skill?.version).toBe("1.10.0");
});

test("a name with a version is that version", () => {
  expect(findSkill(skills, " demo@1.9.0 ").skill?.version).toBe("1.9.0");
});

test("a version that is not there gives those that are", () => {
  expect(findSkill(skills, "demo@3.0.0")).toEqual({ nearest: ["demo@1.9.0", "demo@1.10.0"] });
});

test("an unknown name gives the nearest, and one like nothing gives none", () => {
  expect(findSkill(skills, "run_testcases")).toEqual({ nearest: ["run-testcase"] });
  expect(findSkill(skills, "zzz")).toEqual({ nearest: [] });
  expect(findSkill(skills, "")).toEqual({ nearest: [] });
  expect(findSkill([], "demo@")).toEqual({ nearest: [] });
});

test("the latest are one of each name, by name", () => {
  expect(latestSkills(skills).map(({ name, version }) => `${name}@${version}`)).toEqual([
    "demo@1.10.0",
    "device-status@1.0.0",
    "run-testcase@1.0.0",
  ]);
});
