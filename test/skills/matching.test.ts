import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadSkills, matchSkill, wishesIn } from "@labwright/skills";
import { describe, expect, test } from "vitest";
import { tools } from "#mcp-server/tools/index.ts";
import { judgeRequests, readRequests } from "./figures.ts";
import { aSkill, emptyFolder, skillText, toolNames, writeSkill } from "./fixture.ts";

const { skills } = loadSkills(
  fileURLToPath(new URL("../../skills", import.meta.url)),
  new Set(tools.map(({ name }) => name)),
);
const requests = fileURLToPath(new URL("requests", import.meta.url));
const halves = ["open.yaml", "heldOut.yaml"];

test("every request of the sets names known skills, and no trigger repeats one", () => {
  const names = new Set(["ask", ...skills.map(({ name }) => name)]);
  const triggers = new Set(skills.flatMap(({ triggers }) => triggers.map((text) => text.toLowerCase())));
  const all = halves.flatMap((file) => readRequests(requests, file));
  // Counted and not listed: the held-out requests stay unread, so that no trigger is written for them.
  expect(all.filter(({ skill }) => !skill.every((name) => names.has(name)))).toHaveLength(0);
  expect(all.filter(({ text }) => triggers.has(text.toLowerCase()))).toHaveLength(0);
});

test.each(
  halves,
)("seven of ten requests of %s get their skill or are offered it, and none gets a wrong one", (file) => {
  const figures = judgeRequests(readRequests(requests, file), skills);
  process.stdout.write(`${file}: ${JSON.stringify(figures)}\n`);
  expect(figures.wrong).toBe(0);
  // A lower share means that the ranking is broken: the model would seldom read what the right skill does.
  expect(figures.offered).toBeGreaterThanOrEqual(0.7);
});

const chosenFor = (request: string, among = skills, context?: Parameters<typeof matchSkill>[2]) => {
  const match = matchSkill(request, among, context);
  return match.kind === "match" ? match.skill.name : match.reason;
};

test("each trigger of each skill chooses that skill, with courtesy around it too", () => {
  const wrong = skills.flatMap(({ name, triggers }) =>
    triggers
      .flatMap((trigger) => [trigger, `please ${trigger}`, `could you ${trigger} now`, trigger.toUpperCase()])
      .filter((request) => chosenFor(request) !== name),
  );
  expect(wrong).toEqual([]);
});

describe("a request", () => {
  const run = aSkill({ name: "run-it", triggers: ["run test case", "Test ausführen"] });
  const edit = aSkill({ name: "edit-it", triggers: ["rename test case", "modifier le test", "tidy"] });
  const box = aSkill({ name: "explore-box", triggers: ["explore tv"], platform: "stb" });
  const three = [run, edit, box];

  test.each([
    ["other forms of the words", "running the test cases", "run-it"],
    ["another case and punctuation", "RUN?? the... TEST case!", "run-it"],
    ["no accents", "Test ausfuehren, bitte", "run-it"],
    ["the skill's own name", "run-it", "run-it"],
    ["names after the trigger", "run test case login_basic on stb-3", "run-it"],
    ["a quoted name that is a word of another skill", 'run the test case "rename me"', "run-it"],
    ["words that no skill knows", "run the test case for Anna", "run-it"],
    ["a trigger of one word", "please tidy", "edit-it"],
    ["nothing", "", "it does not begin with a trigger"],
    ["no words", "?!… 12", "it does not begin with a trigger"],
    ["words that no skill knows alone", "whats for dinner tonight", "it does not begin with a trigger"],
    ["a trigger of one word and more", "tidy the kitchen", "it does not begin with a trigger"],
    ["two wishes", "run the test case and then rename it", /^it says more than "run test case"/],
    ["two sentences", "run the test case. Anna waits", /^it says more than "run test case"/],
    [
      "a word of another skill",
      "run the test case to rename",
      /^it begins with "run test case" of run-it and has a word of "rename test case" of edit-it/,
    ],
    [
      "many more words",
      "run test case with five words that nobody ever needed",
      /^it adds more than 4 words/,
    ],
  ])("with %s", (_, text, expected) => {
    expect(chosenFor(text, three)).toEqual(
      typeof expected === "string" ? expected : expect.stringMatching(expected),
    );
  });

  test("that two skills have as a trigger is undecided, and names both", () => {
    const twin = aSkill({ name: "twin", triggers: ["run test case"] });
    const match = matchSkill("run the test case", [...three, twin]);
    expect(match).toMatchObject({ reason: "it is a trigger of run-it and of twin" });
    expect(match).toMatchObject({ candidates: expect.arrayContaining([run, twin]) });
  });

  test("goes to the longer of two triggers", () => {
    const nightly = aSkill({ name: "nightly", triggers: ["run test case nightly"] });
    expect(chosenFor("run test case nightly on stb-3", [...three, nightly])).toBe("nightly");
  });

  test("is never given to a skill for another kind of device", () => {
    expect(chosenFor("explore the tv", three)).toBe("explore-box");
    expect(chosenFor("explore the tv", three, { platform: "stb" })).toBe("explore-box");
    expect(matchSkill("explore tv", three, { platform: "web" })).toMatchObject({ candidates: [] });
  });

  test("is offered at most eight skills that share words with it, the nearest first, each in its highest version", () => {
    const newer = aSkill({ name: "run-it", version: "2.0.0", triggers: ["run a test"] });
    expect(matchSkill("run a test", [newer, ...three])).toMatchObject({ skill: { version: "2.0.0" } });
    const near = matchSkill("tell me about the battery of the phone and its temperature", skills);
    const names = near.kind === "ask" ? near.candidates.map(({ name }) => name) : [];
    expect([names[0], names.length]).toEqual(["inspect-device", 8]);
    expect(matchSkill("zzz", skills)).toMatchObject({ candidates: [] });
    expect(matchSkill("run a test", [])).toMatchObject({ kind: "ask", candidates: [] });
  });

  test.each([
    ["words", `run the test case ${"very ".repeat(200_000)}`],
    ["one word", `run the test case ${"a".repeat(400_000)}`],
    ["open quotes", `run the test case ${"«".repeat(400_000)}`],
    [
      "a name, which hides a second wish",
      `run the test case a_${"a".repeat(2_000)} and delete all test cases`,
    ],
  ])("of very many letters is undecided at once: %s", (_, text) => {
    expect(chosenFor(text)).toBe("it has more than 2000 letters");
  });

  test.each([
    ["alert.blackscreen", "incident-response"],
    ["testcase.completed", "validate-result"],
    ["schedule.health_check", "health-check"],
    ["deployment.execution_done", "generate-report"],
  ])("that is the event %s goes to the skill that has it as a trigger", (event, skill) => {
    expect(chosenFor(event)).toBe(skill);
  });
});

test("the lines of examples.txt next to a skill count as its triggers do, and are not listed among them", () => {
  const folder = emptyFolder();
  mkdirSync(join(folder, "fish"));
  writeSkill(folder, "fish", skillText({ name: "fish", triggers: "[feed the fish]" }));
  const lines = "# by the night shift\r\ngive the guppies their flakes\r\n\n  \nfood for the aquarium\n";
  writeFileSync(join(folder, "fish", "examples.txt"), lines);
  writeSkill(folder, "lawn", skillText({ name: "lawn", triggers: "[mow the lawn]" }));
  const loaded = loadSkills(folder, toolNames);
  expect(loaded.problems).toEqual([]);
  expect(loaded.skills).toMatchObject([
    { triggers: ["feed the fish"], examples: ["give the guppies their flakes", "food for the aquarium"] },
    { name: "lawn" },
  ]);
  expect(loaded.skills[1]).not.toHaveProperty("examples");
  expect(chosenFor("please give the guppies their flakes", loaded.skills)).toBe("fish");
});

describe("a request for several things", () => {
  const wished = (request: string) => wishesIn(request, skills).map(({ text, skill }) => [skill.name, text]);

  test("is parted where each part decides for a skill", () => {
    expect(
      wished('Run test case "search and find" on browser1, and then health check of all devices.'),
    ).toEqual([
      ["run-testcase", 'Run test case "search and find" on browser1'],
      ["health-check", "health check of all devices"],
    ]);
  });

  test.each([
    "run test case login_1 or health check of all devices",
    "run test case login_1 and then whatever you like",
    "run test case login_1 and run test case login_2",
    "run test case login_1",
  ])("is left to the model or the user: %s", (request) => {
    expect(wished(request)).toEqual([]);
  });

  test("no request of the sets that asks for one skill is parted", () => {
    const parted = halves
      .flatMap((file) => readRequests(requests, file))
      .filter(({ text, skill }) => skill.length === 1 && wishesIn(text, skills).length > 0);
    expect(parted).toHaveLength(0);
  });
});
