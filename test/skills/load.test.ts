import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { loadSkillFolders, loadSkills, parseSkill } from "@labwright/skills";
import { describe, expect, test } from "vitest";
import { emptyFolder, skillFolder, skillText, toolNames as tools } from "./fixture.ts";

const problemsOf = (text: string, folder = "demo") =>
  parseSkill(text, "s.yaml", folder, tools).problems.map(({ line, message }) => `${line} ${message}`);

describe("a skill's file", () => {
  test("that is right gives the skill, with its defaults and its prompt trimmed", () => {
    const text = skillText().replace("timeout_seconds: 60\n", "");
    const { skill, problems } = parseSkill(text, "s.yaml", "demo", tools);
    expect(problems).toEqual([]);
    const defaults = { platform: null, requires_device: false, timeout_seconds: 1_800 };
    expect(skill).toMatchObject({ name: "demo", system_prompt: "Do it.", ...defaults });
  });

  test("may stand in a folder of its version, and in no other", () => {
    expect(problemsOf(skillText(), "demo@1.0.0")).toEqual([]);
    expect(problemsOf(skillText(), "demo@2.0.0")).toEqual(["1 name: must be its folder's, demo"]);
    expect(problemsOf(skillText(), "other")).toEqual(["1 name: must be its folder's, other"]);
  });

  test("that names an unknown tool gets a problem with the nearest one", () => {
    const text = skillText({ tools: "[get_compatible_hosts, execute_test_case]" });
    expect(problemsOf(text)).toEqual([
      "6 tools.1: no tool is called execute_test_case; the nearest is execute_testcase",
    ]);
  });

  test("with an unknown key gets a problem with the nearest one, at the key's line", () => {
    expect(problemsOf(`${skillText()}platfrom: web\n`)).toEqual([
      "8 platfrom: is not a key of a skill; the nearest is platform",
    ]);
  });

  test("has all its problems reported at once, in order of lines", () => {
    const text = skillText({
      name: "other",
      version: "'1'",
      triggers: "[Run it, 'run, it!', '...']",
      system_prompt: "'  '",
      tools: "[get_device_info, get_device_info, nothing_like_it]",
      timeout_seconds: "soon",
    });
    expect(problemsOf(text)).toEqual([
      "1 name: must be its folder's, demo",
      "2 version: must be a semantic version such as 1.0.0",
      "4 triggers.2: must have a word",
      "4 triggers.1: is the same as number 0",
      expect.stringMatching(/^5 system_prompt: /),
      "6 tools.1: is the same as number 0",
      expect.stringMatching(/^6 tools\.2: no tool is called nothing_like_it/),
      expect.stringMatching(/^7 timeout_seconds: /),
    ]);
  });

  test("with an eleventh trigger gets a problem that says where further phrases go", () => {
    const triggers = `[${Array.from({ length: 11 }, (_, at) => `feed fish ${at}`).join(", ")}]`;
    expect(problemsOf(skillText({ triggers }))).toEqual([expect.stringContaining("examples.txt")]);
  });

  test.each([
    ["one tool", "[get_device_info]"],
    ["nine tools", `[${Array.from({ length: 9 }, (_, index) => `tool_${index}`).join(", ")}]`],
    ["no list of tools", "get_device_info"],
  ])("with %s is refused", (_, given) => {
    const known = new Set([...tools, ...Array.from({ length: 9 }, (_, index) => `tool_${index}`)]);
    const { skill, problems } = parseSkill(skillText({ tools: given }), "s.yaml", "demo", known);
    expect(skill).toBeUndefined();
    expect(new Set(problems.map(({ line, message }) => `${line} ${message.split(":")[0]}`))).toEqual(
      new Set(["6 tools"]),
    );
  });

  test.each([
    ["broken YAML", "name: ["],
    ["a key twice", `${skillText()}name: demo\n`],
    ["an alias without its anchor", "name: *nobody"],
    ["nothing", ""],
    ["a list", "- name"],
    ["a NUL", "\0"],
    ["numbers for words", "name: 1\nversion: 2\ntools: 3"],
  ])("that holds %s is a problem with a line, not an exception", (_, text) => {
    const { skill, problems } = parseSkill(text, "s.yaml", "demo", tools);
    expect(skill).toBeUndefined();
    expect(problems[0]).toMatchObject({ file: "s.yaml", line: expect.any(Number) });
  });

  test.each(["1.0", "v1.0.0", "01.0.0", "1.0.0-beta"])("refuses %s as a version", (version) => {
    expect(problemsOf(skillText({ version: `"${version}"` }))).toEqual([expect.stringContaining("version:")]);
  });
});

describe("folders of skills", () => {
  test("report the problems of all files at once and go on with the others", () => {
    const folder = skillFolder({
      good: skillText({ name: "good" }),
      bad: skillText({ name: "bad", version: "x" }),
      worse: "name: [",
    });
    const { skills, problems } = loadSkills(folder, tools);
    expect(skills.map(({ name }) => name)).toEqual(["good"]);
    expect(new Set(problems.map(({ file }) => file))).toEqual(
      new Set([join(folder, "bad", "skill.yaml"), join(folder, "worse", "skill.yaml")]),
    );
  });

  test("hold two versions of one skill side by side, the highest first", () => {
    const folder = skillFolder({
      demo: skillText({ version: "1.9.0" }),
      "demo@1.10.0": skillText({ version: "1.10.0" }),
      "demo@1.2.0": skillText({ version: "1.2.0" }),
    });
    const { skills, problems } = loadSkills(folder, tools);
    expect(problems).toEqual([]);
    expect(skills.map(({ version }) => version)).toEqual(["1.10.0", "1.9.0", "1.2.0"]);
  });

  test("that hold one version twice keep one and report the other", () => {
    const folder = skillFolder({ demo: skillText(), "demo@1.0.0": skillText() });
    const { skills, problems } = loadSkills(folder, tools);
    expect(skills).toHaveLength(1);
    expect(problems).toEqual([
      {
        file: join(folder, "demo@1.0.0", "skill.yaml"),
        line: 1,
        message: `version: demo@1.0.0 is also in ${join(folder, "demo", "skill.yaml")}`,
      },
    ]);
  });

  test("of a user add to the shipped ones and replace a name in all its versions", () => {
    const shipped = skillFolder({
      demo: skillText({ version: "3.0.0" }),
      "demo@2.0.0": skillText({ version: "2.0.0" }),
      kept: skillText({ name: "kept" }),
    });
    const user = skillFolder({
      demo: skillText({ description: "Mine." }),
      added: skillText({ name: "added" }),
    });
    const { skills } = loadSkillFolders([shipped, user], tools);
    expect(skills.map(({ name, version, description }) => [name, version, description])).toEqual([
      ["added", "1.0.0", "A skill."],
      ["demo", "1.0.0", "Mine."],
      ["kept", "1.0.0", "A skill."],
    ]);
  });

  test("of a user with a problem leave the shipped skill in its place", () => {
    const shipped = skillFolder({ demo: skillText() });
    const user = skillFolder({ demo: skillText({ version: "x" }) });
    const { skills, problems } = loadSkillFolders([shipped, user], tools);
    expect(skills.map(({ name }) => name)).toEqual(["demo"]);
    expect(problems.map(({ file }) => file)).toEqual([join(user, "demo", "skill.yaml")]);
  });

  test("that are missing, or files, hold no skills", () => {
    const folder = skillFolder({ demo: skillText() });
    expect(loadSkillFolders([join(folder, "nowhere"), join(folder, "demo", "skill.yaml")], tools)).toEqual({
      skills: [],
      problems: [],
    });
  });

  test("report a skill that is huge or not a file", () => {
    const folder = skillFolder({ huge: `${skillText({ name: "huge" })}#${"x".repeat(300_000)}` });
    mkdirSync(join(folder, "odd", "skill.yaml"), { recursive: true });
    const { skills, problems } = loadSkills(folder, tools);
    expect(skills).toEqual([]);
    expect(problems.map(({ file, message }) => [dirname(file), message.split(" ")[0]])).toEqual([
      [join(folder, "huge"), "has"],
      [join(folder, "odd"), "cannot"],
    ]);
  });

  test("ignore what lies next to the skills", () => {
    const folder = skillFolder({ demo: skillText() });
    writeFileSync(join(folder, "README.md"), "");
    mkdirSync(join(folder, "src"));
    expect(loadSkills(folder, tools)).toMatchObject({ skills: [{ name: "demo" }], problems: [] });
  });
});

test("a skill that lies where none is read is reported, with where it belongs", () => {
  const folder = emptyFolder();
  const put = (...path: string[]) => {
    const file = join(folder, ...path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, skillText());
    return file;
  };
  const misplaced = [
    put("skill.yaml"),
    put("group", "deep", "skill.yaml"),
    put("host", "SKILL.md"),
    put("short", "skill.yml"),
  ];
  put("demo", "skill.yaml");
  put("demo", "SKILL.md");
  mkdirSync(join(folder, "_notes"));
  const { skills, problems } = loadSkills(folder, tools);
  expect(skills.map(({ name }) => name)).toEqual(["demo"]);
  expect(problems.map(({ file }) => file)).toEqual(misplaced);
  for (const { message } of problems) expect(message).toMatch(/is not read: a skill is .*skill\.yaml/);
});
