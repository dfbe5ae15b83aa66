import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { projectFolder } from "../fixtures.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const {
  place,
  write: writeText,
  labwright,
} = projectFolder({
  "labwright/apps/tv.yaml": 'name: tv\nmodels: [simulated]\nnodes: { Home: check text "Movies" }\n',
});
const write = (name: string, ...lines: string[]) => writeText(name, `${lines.join("\n")}\n`);
const file = "labwright/tests/home.feature";

it("a feature runs next to the tests of YAML, by the only app of its project, and says which line failed", async () => {
  write(
    file,
    ...["@tv", "Feature: Home", "", "  Background:", "    Given I am on the home page", ""],
    ...["  Scenario: Good", "    When I press HOME", "    Then I should be on the Home page"],
    ...['    And I should see "Movies"', "", "  @bad", "  Scenario: Bad"],
    ...['    Then I see "Movies"', '    And I see "Nowhere" within 1 s', ""],
    ...["  Scenario Outline: Rows", '    Then I see "<text>" within 1 s', "    Examples:"],
    ...["      | text |", "      | Movies |", "      | Nowhere |"],
  );
  write(
    "labwright/tests/a.yaml",
    "app: tv",
    "steps:",
    "  - 'run the test \"Home: Good\"'",
    '  - check text "Movies"',
  );
  expect(await labwright(["lint"])).toMatchObject({
    code: 0,
    out: "3 files with 1 app and 5 tests: nothing is wrong\n",
  });
  const ran = await labwright(["run"], { env: { GITHUB_ACTIONS: "true" } });
  expect(ran.code).toBe(1);
  expect(ran.out).toMatch(/passed +a /m);
  expect(ran.out).toMatch(/passed +Home: Good /m);
  expect(ran.out).toMatch(/failed +Home: Bad [\s\S]*step I see "Nowhere" within 1 s/m);
  expect(ran.out).toMatch(/failed +Home: Rows \(row 2\) [\s\S]*step I see "Nowhere" within 1 s/m);
  expect(ran.out).toContain(`::error file=${file},line=15::Home: Bad: `);
  const tagged = await labwright(["run", file, "--tag", "bad"]);
  expect(tagged.out).toMatch(/\n1 run: 0 passed, 1 failed\n$/);
  expect((await labwright(["import", file])).out).toContain(`${file}: 4 tests, as before`);
});

it("what is not understood is named at once with file and line, and nothing runs", async () => {
  write(
    file,
    ...["Feature: Home", "  Background:", "    Given the sky is blue"],
    ...["  Scenario: One", "    Then I press HOME", "  Scenario: Two", '    Then I see "Movies"'],
    ...["    When I frobnicate"],
  );
  write("labwright/tests/a.yaml", "app: tv", "steps:", '  - check text "Movies"', "  - go to Hime");
  const linted = await labwright(["lint"]);
  expect(linted.code).toBe(2);
  const errors = linted.out.split("\n").filter((line) => line.includes(": error: "));
  expect(errors).toEqual([
    expect.stringContaining("labwright/tests/a.yaml:4:5: error: "),
    expect.stringMatching(
      /^labwright\/tests\/home\.feature:3:5: error: the sky is blue: not understood; nearest: /,
    ),
    expect.stringMatching(
      /^labwright\/tests\/home\.feature:5:5: error: I press HOME: here a check is needed/,
    ),
    expect.stringMatching(
      /^labwright\/tests\/home\.feature:8:5: error: I frobnicate: not understood; nearest: /,
    ),
  ]);
  for (const args of [["run"], ["run", file], ["import", "labwright"]]) {
    const refused = await labwright(args);
    expect(refused).toMatchObject({ code: 2, out: "" });
    for (const line of [3, 5, 8]) expect(refused.err).toContain(`line ${line}, column 5: `);
  }
  expect((await labwright(["list", "tests"])).out).not.toContain("Home: Two");
});

it("no tool writes to a feature, and with several apps it says which one it is of", async () => {
  const text = ["Feature: Home", "  Scenario: One", '    Then I see "Movies"'];
  write(file, ...text);
  expect(await labwright(["import", "labwright"])).toMatchObject({ code: 0 });
  const testcase = { name: "Home: One", app: "tv", steps: ['check text "Other"'] };
  const saved = await labwright([
    "call",
    "save_testcase",
    "--json",
    JSON.stringify({ testcase, replace: true }),
  ]);
  expect(saved.code).not.toBe(0);
  expect(saved.out + saved.err).toMatch(
    /PROTECTED[\s\S]*home\.feature .* is a Gherkin feature, .* never writes/,
  );
  expect(readFileSync(join(place(), file), "utf8")).toBe(`${text.join("\n")}\n`);
  expect(await labwright(["run", file])).toMatchObject({ code: 0 });
  const given = { yaml: `# app: tv\n${text.join("\n")}`.replace("One", "Told"), file: "told.feature" };
  const told = await labwright(["call", "import_userinterface", "--json", JSON.stringify(given)]);
  expect(told).toMatchObject({ code: 0, out: expect.stringContaining('"Home: Told"') });
  // A test without a file of its own gets one, of YAML.
  expect(readFileSync(join(place(), "labwright/tests/home-told.yaml"), "utf8")).toContain('I see "Movies"');
  write(
    "labwright/apps/box.yaml",
    "name: box app",
    "models: [simulated]",
    'nodes: { Home: check text "Movies" }',
  );
  write(file, ...text, '    And I see "Movies"');
  const refused = await labwright(["run", file]);
  expect(refused).toMatchObject({ code: 2, err: expect.stringMatching(/several apps; .* # app: /) });
  write(file, "# app: tv", ...text, "    And I am on the Home page");
  expect(await labwright(["run", file])).toMatchObject({ code: 0 });
});

it("labwright.yaml may have the matrix of runs that name none", async () => {
  write(file, "Feature: Home", "  Scenario: One", '    Then I see "Movies"');
  write("labwright.yaml", "matrix: [phone, tv]");
  // The daemon has the settings of the file that it began with.
  await labwright(["stop"]);
  const ran = await labwright(["run"]);
  const lines = ["phone", "tv"].map((name) => `${name}: 1 test not run: DEVICE_NOT_FOUND\n`);
  expect(ran).toMatchObject({ code: 2, out: `${lines.join("")}0 runs: 0 passed, 2 not run\n` });
  expect((await labwright(["run", "--matrix", "ios"])).out).toMatch(/^ios: 1 test not run/);
});
