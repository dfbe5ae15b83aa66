import { fileURLToPath } from "node:url";
import { loadSkills, matchSkill } from "@labwright/skills";
import { describe, expect, test } from "vitest";
import { tools } from "../../mcp-server/src/tools/index.ts";
import elsewhere from "../../skills/src/elsewhere.json" with { type: "json" };
import { judgeRequests, readRequests } from "./figures.ts";
import { aSkill } from "./fixture.ts";

const { skills } = loadSkills(
  fileURLToPath(new URL("../../skills", import.meta.url)),
  new Set(tools.map(({ name }) => name)),
);
const folder = fileURLToPath(new URL("requests", import.meta.url));
const requestsOf = (file: string) => readRequests(folder, file);
const judge = (file: string) => judgeRequests(requestsOf(file), skills);

const nameOf = (request: string) => {
  const match = matchSkill(request, skills);
  return match.kind === "match" ? match.skill.name : "ask";
};

test("every request of the sets names skills that there are, and no trigger repeats one", () => {
  const names = new Set(["ask", ...skills.map(({ name }) => name)]);
  const triggers = new Set(
    skills.flatMap(({ triggers, examples = [] }) =>
      [...triggers, ...examples].map((text) => text.toLowerCase()),
    ),
  );
  const all = [...requestsOf("open.yaml"), ...requestsOf("heldOut.yaml")];
  // Counted and not listed: nobody who tunes the triggers may read the held-out requests.
  expect(all.filter(({ skill }) => !skill.every((name) => names.has(name)))).toHaveLength(0);
  expect(all.filter(({ text }) => triggers.has(text.toLowerCase())).length).toBe(0);
});

test("nothing that is known to be no skill's work repeats an open request", () => {
  const requests = new Set(requestsOf("open.yaml").map(({ text }) => text.toLowerCase()));
  const phrases = elsewhere.topics
    .flatMap((topic) => topic.split("|"))
    .map((phrase) => phrase.trim().toLowerCase());
  expect(phrases.filter((phrase) => requests.has(phrase))).toEqual([]);
});

/** What the half of the requests must reach that is tuned for, and the half that nobody who tunes may read. */
const goals = [
  { file: "open.yaml", wrong: 0.03, recall: 0.95 },
  { file: "heldOut.yaml", wrong: 0.03, recall: 0.9 },
];

describe.each(goals)("the requests of $file", ({ file, wrong, recall }) => {
  const figures = judge(file);

  test("are hardly ever given to a wrong skill", () => {
    process.stdout.write(`${file}: ${JSON.stringify(figures)}\n`);
    expect(figures.wrong).toBeLessThanOrEqual(wrong);
  });

  test("are matched as often as is the goal", () => {
    expect(figures.recall).toBeGreaterThanOrEqual(recall);
  });
});

test("open requests that fit no skill, or two, are answered by a question", () => {
  expect(judge("open.yaml").unasked).toBe(0);
});

// Not reached: this test fails, and is then made an ordinary one, when it is.
test.fails("held-out requests that fit no skill, or two, are answered by a question", { retry: 0 }, () => {
  expect(judge("heldOut.yaml").unasked).toBe(0);
});

describe("a request", () => {
  const run = aSkill({ name: "run-it", triggers: ["run test case", "Test ausführen"] });
  const edit = aSkill({ name: "edit-it", triggers: ["rename test case", "modifier le test"] });
  const box = aSkill({ name: "explore-box", triggers: ["explore tv"], platform: "stb" });
  const three = [run, edit, box];
  const matched = (text: string, ...rest: [typeof three?, Parameters<typeof matchSkill>[2]?]) => {
    const match = matchSkill(text, rest[0] ?? three, rest[1]);
    return match.kind === "match" ? match.skill.name : match.candidates.map(({ name }) => name);
  };

  test.each([
    ["another form of the words", "please execute the tests"],
    ["another case and punctuation", "RUN?? the... TEST!"],
    ["no accents", "Test ausfuehren, bitte"],
    ["accents in full", "exécutez le test"],
    ["a compound word", "den Loginttest starten"],
    ["a slip of the keyboard", "exceute the test"],
    ["a name in quotes that is a word of another skill", 'run the test "rename me"'],
    ["a test's name instead of the word", "start login_basic"],
    ["the skill's own name", "run-it"],
  ])("with %s is matched", (_, text) => {
    expect(matched(text)).toBe("run-it");
  });

  test.each([
    ["nothing", ""],
    ["no words", "?!… 12"],
    ["words that nobody knows", "whats for dinner tonight"],
    ["two wishes", "run the test and then rename the other test case"],
  ])("with %s is answered by a question", (_, text) => {
    const match = matchSkill(text, three);
    expect(match).toMatchObject({
      kind: "ask",
      candidates: expect.arrayContaining([run, edit]),
    });
  });

  test("is answered by a question over the two when two skills have the same trigger", () => {
    const twin = aSkill({ name: "twin", triggers: ["run test case"] });
    expect(matched("run the test case", [...three, twin])).toEqual(
      expect.arrayContaining(["run-it", "twin"]),
    );
  });

  test("is never given to a skill for another kind of device", () => {
    expect(matched("explore the tv", three, { platform: "stb" })).toBe("explore-box");
    expect(matched("explore the tv")).toBe("explore-box");
    expect(matched("explore the app")).not.toBe("explore-box");
    for (const text of ["please explore the tv now", "explore tv", "explore-box"])
      expect(matched(text, three, { platform: "web" })).not.toContain("explore-box");
  });

  test("for a user's skill of few triggers finds it among all others, which lose nothing by it", () => {
    const soak = aSkill({ name: "soak-box", triggers: ["leave it on overnight", "memory leak hunt"] });
    const more = [...skills, soak];
    expect(matched("please hunt for memory leaks on stb-4", more)).toBe("soak-box");
    expect(matched("could you leave the tv on overnight", more)).toBe("soak-box");
    expect(matched("run the login test on the tv", more)).toBe("run-testcase");
  });

  test("in two parts is one wish where one skill is for both", () => {
    expect(nameOf("press the menu key and then type the pin")).toBe("control-device");
    expect(nameOf("explore the tv app with the remote and build its tree")).toBe("explore-stb");
    expect(nameOf("export the run as junit and pause the nightly schedule")).toBe("ask");
  });

  test("is given to the longer of two triggers", () => {
    const again = aSkill({ name: "again", triggers: ["run the test every night on schedule"] });
    expect(matched("run the test every night on schedule", [...three, again])).toBe("again");
  });

  test("is offered four skills at most, and the highest version of each", () => {
    const versions = [aSkill({ name: "run-it", version: "2.0.0", triggers: ["run test"] }), ...three];
    const match = matchSkill("run the test", versions);
    expect(match).toMatchObject({ kind: "match", skill: { name: "run-it", version: "2.0.0" } });
    expect(matchSkill("dinner", skills)).toMatchObject({ candidates: { length: 4 } });
    expect(matchSkill("dinner", [])).toMatchObject({ kind: "ask", candidates: [] });
  });

  test("of any length gets the same answer each time", () => {
    const long = `run the test ${"very ".repeat(200_000)}`;
    expect(matchSkill(long, skills)).toEqual(matchSkill(long, skills));
    expect(matched(`run the test ${"\u0000\ud800".repeat(50)}`)).toBe("run-it");
  });

  test("that is the name of an event goes to the skill that has it as a trigger", () => {
    expect(nameOf("alert.blackscreen")).toBe("incident-response");
    expect(nameOf("testcase.completed")).toBe("validate-result");
    expect(nameOf("schedule.health_check")).toBe("health-check");
    expect(nameOf("deployment.execution_done")).toBe("generate-report");
  });
});
