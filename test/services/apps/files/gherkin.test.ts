import { expect, test } from "vitest";
import { z } from "zod";
import { parseFeature } from "#mcp-server/services/apps/files/gherkin.ts";
import { compileSteps } from "#mcp-server/services/apps/steps/compile.ts";
import { builtInVerbs } from "../../../fixtures/verbs.ts";

const verbs = builtInVerbs();
const placeSchema = z.looseObject({
  app: z.string().optional(),
  tests: z.array(z.looseObject({ name: z.string(), steps: z.array(z.unknown()).default([]) })),
});
function read(...lines: string[]) {
  const { value, problems, problem } = parseFeature("a.feature", `${lines.join("\n")}\n`);
  return { ...placeSchema.parse(value), problems: problems.map(lineOf), problem };
}
const lineOf = ({ line, message }: { line?: number; message: string }) => `${line}: ${message}`;

const places = ["Home", "Cart", "Login"].map((label) => ({
  label,
  verifications: [{ command: "text_visible", params: { text: label }, negate: false }],
  pass_condition: "all" as const,
}));
const vocabulary = { places, testcases: ["sign in"], commands: undefined, checks: undefined };

const blockSchema = z.looseObject({
  type: z.string(),
  ...{ command: z.string().optional(), target: z.string().optional(), testcase: z.string().optional() },
  ...{ params: z.unknown().optional(), negate: z.boolean().optional() },
});

/** What a step means, a line for each block, or why it is not understood. */
function meaningOf(step: string): string {
  const { tests } = read("Feature: a", "Scenario: b", step);
  const { blocks, problems } = compileSteps(tests[0]?.steps ?? [], { vocabulary, verbs });
  const said = z
    .array(blockSchema)
    .parse(blocks.slice(1, -1))
    .map(({ type, command, target, params, negate, testcase }) =>
      [negate === true && "not", command ?? target ?? testcase ?? type, params && JSON.stringify(params)]
        .filter(Boolean)
        .join(" "),
    );
  return [...problems.map(({ message }) => `?? ${message}`), ...said].join("; ");
}

const sentences: readonly (readonly [step: string, meaning: string])[] = [
  ["Given I am on the home page", "Home"],
  ['Given I am on "/cart"', 'navigate_to_url {"url":"/cart"}'],
  ["Given the user navigates to the login page", "Login"],
  ["Given I run the test sign in", "sign in"],
  ['When I follow "Sign in"', 'click_element {"selector":"Sign in"}'],
  ['When the user clicks on the "Login" button', 'click_element {"selector":"Login"}'],
  ['* I press "Save"', 'click_element {"selector":"Save"}'],
  ['When I fill in "user" with "anna"', 'input_text {"selector":"user","text":"anna"}'],
  ['When I select "Blue" from "Color"', 'select_option {"selector":"Color","option":"Blue"}'],
  ['Then I should see "Hello"', 'text_visible {"text":"Hello"}'],
  ['Then I should not see "Hello"', 'not text_visible {"text":"Hello"}'],
  ['Then I should see an error message "No"', 'text_visible {"text":"No"}'],
  ["Then I should be redirected to the cart page", 'text_visible {"text":"Cart"}'],
  ["Then I am on the Cart", 'text_visible {"text":"Cart"}'],
  ['Then I should be on "/cart"', 'url_matches {"url":"/cart"}'],
  ['Then the user is on "https://a.b/c"', 'url_matches {"url":"https://a.b/c","match":"exact"}'],
  ['Then the "Terms" checkbox should be checked', 'element_checked {"selector":"Terms"}'],
  ['Then I should see 3 "css=.row" elements', 'element_count {"selector":"css=.row","count":3}'],
  ["Then I run the test sign in", "sign in"],
];

test.each(sentences)("%s", (step, meaning) => {
  expect(meaningOf(step).slice(0, meaning.length)).toBe(meaning);
});

test.each([
  ['Then I click "Buy"', /here a check is needed, and this only acts; nearest: check text "T"/],
  ["Then I go to the cart", /here a check is needed/],
  ["When I see to it that all is well", /^\?\? I see to it that all is well: /],
  ["Then the cart is as it should be", /^\?\? .*not understood; nearest: /],
  ['When I check "Terms"', /say whether it is ticked or looked at; nearest: tick "Terms"/],
])("%s is refused with what would be understood", (step, reason) => {
  expect(meaningOf(step)).toMatch(reason);
});

test("scenarios are tests with the steps, tags and words of what they are in", () => {
  const { app, tests, problems, problem } = read(
    ...["# app: My shop", "@web @smoke", "Feature: Cart", "  All about", "  the cart.", ""],
    ...["  Background:", "    Given I am on the home page", ""],
    ...["  @p1 @smoke", "  Scenario: Add", "    When I fill in the following:"],
    ...["      | field | value |", "      | Name  | Ann   |", "      | Town  | A\\|B  |"],
    ...['    And I fill "Note" with:', '      """', "      two", "      lines", '      """'],
    ...["    Then I see:", "      | Lamp |", '      | "Cup" |', ""],
    ...[
      "  Rule: Limits",
      "    Background:",
      "      * reload",
      "    Example: None",
      '      Then I see "None"',
    ],
  );
  expect(problems).toEqual([]);
  expect(app).toBe("My shop");
  expect(tests).toEqual([
    {
      ...{ name: "Cart: Add", description: "All about\nthe cart.", tags: ["web", "smoke", "p1"] },
      variables: { text_17: "two\nlines" },
      steps: [
        "go to the home page",
        ...['I fill in "Name" with "Ann"', 'I fill in "Town" with "A|B"', 'I fill "Note" with "{{text_17}}"'],
        ...[{ check: 'I see "Lamp"' }, { check: 'I see “"Cup"”' }],
      ],
    },
    {
      ...{ name: "Cart: Limits: None", description: "All about\nthe cart.", tags: ["web", "smoke"] },
      steps: ["go to the home page", "reload", { check: 'I see "None"' }],
    },
  ]);
  expect(problem(["tests", 0, "steps", 2], "x")).toMatchObject({ line: 15, path: "" });
  expect(problem(["tests", 1, "steps", 0], "x")).toMatchObject({ line: 8 });
  expect(problem(["tests", 1, "name"], "x")).toMatchObject({ line: 28 });
});

test("each row of an outline is a test, whose values may have quotes", () => {
  const { tests, problems } = read(
    ...["Feature: Shop", "  Scenario Outline: Buy <the item>"],
    ...['    When I click "Buy <the item>"', '    Then I see "<price>"', "    @eu", "    Examples: Europe"],
    ...["      | the item | price |", "      | Lamp | 40 € |", '      | Cup | 4 "Taler" |'],
    ...["    Examples:", "      | the item | price |", "      | Cup | 5 $ |"],
    ...["  Scenario Outline: Many", '    When I <act> "Buy"', '    Then there are <n> "css=.row"'],
    ...["    Examples:", "      | act | n |", "      | click | 1 |", "      | tap | 2 |"],
  );
  expect(problems).toEqual([]);
  const buy = (item: string, price: string) => [`I click "Buy ${item}"`, { check: `I see ${price}` }];
  expect(tests).toEqual([
    { name: "Shop: Buy Lamp (Europe)", tags: ["eu"], steps: buy("Lamp", '"40 €"') },
    { name: "Shop: Buy Cup (Europe)", tags: ["eu"], steps: buy("Cup", '“4 "Taler"”') },
    { name: "Shop: Buy Cup (examples 2)", tags: [], steps: buy("Cup", '"5 $"') },
    {
      ...{ name: "Shop: Many (row 1)", tags: [] },
      steps: ['I click "Buy"', { check: 'there are 1 "css=.row"' }],
    },
    { name: "Shop: Many (row 2)", tags: [], steps: ['I tap "Buy"', { check: 'there are 2 "css=.row"' }] },
  ]);
});

test("keywords are read in the language of the file", () => {
  const { tests, problems } = read(
    ...["# language: de", "Funktionalität: Korb", "  Szenario: Leer", "    Angenommen I am on the home page"],
    ...['    Wenn klicke "Korb"', '    Und klicke "Leeren"', '    Dann prüfe text "Leer"'],
  );
  expect(problems).toEqual([]);
  const steps = ["go to the home page", 'klicke "Korb"', 'klicke "Leeren"', { check: 'prüfe text "Leer"' }];
  expect(tests).toEqual([{ name: "Korb: Leer", tags: [], steps }]);
});

test("everything that is wrong with the form is named with its line, and no test is left out unsaid", () => {
  const { problems } = read(
    ...["Feature: Wrong", "  Scenario: Empty", "  Scenario Outline: Bare", '    When I click "<item>"'],
    ...["  Scenario Outline: Rows", '    When I click "<itm>"', "    Examples:", "      | item |"],
    ...["      | a |", "    Examples: none", "      | item |", "  Scenario: Wide", "    When I see:"],
    ...["      | a | b | c |"],
  );
  expect(problems).toEqual([
    '2: "Empty" has no steps',
    '3: "Bare" has placeholders and no Examples',
    '6: <itm> is not a column of the examples; did you mean "item"?',
    '10: the examples of "Rows" have no row',
    expect.stringMatching(/^13: "I see:": a table has one column, .* this one has 3$/),
  ]);
  expect(read("Feature: Nothing").problems).toEqual(["1: the feature has no scenario"]);
  expect(read("# only a comment").problems).toEqual(["1: the file has no Feature"]);
  const typos = ["    Whne x", "    The user is Anna.", "    when y", '    Then I see "z"', "    Thn w"];
  expect(read("Feature: a", "  Scenario: b", ...typos.slice(0, 4)).problems).toEqual([
    '2: "Whne x" is read as a description; a step begins with "When "',
    '2: "when y" is read as a description; a step begins with "When "',
  ]);
  expect(read("Feature: a", "  Scenario: b", ...typos).problems).toEqual([
    expect.stringMatching(/^7: expected: .*got 'Thn w'$/),
  ]);
  const spaces = " ".repeat(30_000);
  expect(read("Feature: a", "  Scenario: b", `    When a${spaces}b:`, "      | c |").problems).toEqual([
    expect.stringMatching(/^3: a step has at most \d+ characters/),
  ]);
  expect(read("Feature: a", " ".repeat(1_000_000)).problems).toEqual([
    expect.stringMatching(/^1: a feature has at most 1000000 characters/),
  ]);
  const rows = Array.from({ length: 2_001 }, () => "      | a |");
  const outline = ["  Scenario Outline: b", '    When I click "<x>"', "    Examples:", "      | x |"];
  expect(read("Feature: a", ...outline, ...rows).problems).toEqual([
    expect.stringMatching(/^4: a feature has at most 2000 tests/),
  ]);
  expect(read("# language: xx", "Feature: a").problems).toEqual(["1: Language not supported: xx"]);
});
