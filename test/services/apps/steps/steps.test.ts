import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type Block, blockTypes, testcaseSchema } from "#mcp-server/domain/index.ts";
import { kinds, loopVerbs, stepsOf } from "#mcp-server/services/apps/steps/index.ts";
import { builtInVerbs } from "../../../fixtures/verbs.ts";
import { compiled, language } from "./language.ts";

/** Steps as they come back from the blocks that they make. */
function again(steps: readonly unknown[]): unknown {
  const { problems, parse } = compiled(steps);
  expect(problems).toEqual([]);
  return stepsOf(parse(), language);
}

/** Every phrase, in words that people write. */
const phrases = [
  ...["go to Home", "open Cart", 'click the "Sign in" button', 'double-click "Row 1"', 'press "Save"'],
  ...['right click "Row"', 'hover over "Menu"', 'click the second "Add" button', "press OK", "go back"],
  ...["log out", "reload the page", "scroll down", "scroll to the bottom", 'scroll to "Imprint"'],
  ...['upload "cv.pdf" to "CV"', 'drag "A" to "B"', 'type "a and b. c" into "Email"', 'type "x"'],
  ...[
    'fill "Email" with "a@b.c"',
    'clear "Search"',
    'select "DE" from "Country"',
    'tick the "Gift" checkbox',
  ],
  ...['turn off "Wi-Fi"', 'choose "Express"', "open https://shop.test/a?c=d", "call test log in"],
  ...["wait 3 seconds", "wait 250 ms", 'wait for text "Done"', 'wait for "Pay" for 5 s'],
  ...['wait until "Loading" is hidden', 'check text "Hi" is shown', 'check text "Hi"', 'I should see "Hi"'],
  ...['check the title is "Shop"', 'check the url has "/cart"', 'check the number of "Add" is 2'],
  ...['check there are 3 "Add"', 'check "X" has text "T"', 'check "X" has value "V"', 'check "X" is empty'],
  ...['check "X" is disabled', "check Home is shown", "check Cart is shown", "check Player is shown"],
  ...[
    'check "X" is not selected',
    'check "X" is unchecked',
    'wait until "X" is open',
    'check "X" is current',
  ],
  ...['check "X" is not shown', "check we are on Cart", "klicke auf „Weiter“", "cliquer sur « Payer »"],
  ...['go to Home, click "A" and check text "B"', 'click "{{name}}"', "press OK; press BACK"],
  `type "${"long ".repeat(60)}" into "Note"`,
];

describe("steps of words", () => {
  test.each(phrases.map((words) => [words]))("%s: come back as they were written", (words) => {
    expect(again([words])).toEqual([words]);
    expect(again(["go to Home", words, { repeat: 2, steps: [words] }])).toEqual([
      ...["go to Home", words],
      { repeat: 2, steps: [words] },
    ]);
  });

  test("give each of their blocks their words, one graph with start and end, and ids by their place", () => {
    const { blocks, edges } = compiled([
      "go to Home",
      "check Player is shown",
      "check Cart is shown",
    ]).parse();
    expect(blocks.map(({ id, label }) => [id, label])).toEqual([
      ["start", undefined],
      ["s1", "go to Home"],
      ["s2_1", "check Player is shown"],
      ["s2_2", "check Player is shown"],
      ["s3_1", "check Cart is shown"],
      ["s3_2", "check Cart is shown"],
      ["success", undefined],
    ]);
    expect(edges.filter(({ on }) => on === "failure")).toEqual([{ from: "s2_1", to: "s2_2", on: "failure" }]);
  });
});

/** Arguments that a schema takes: each key with the first value of some that it accepts, optional ones only when needed. */
function argumentsOf(input: z.ZodObject): Record<string, unknown> {
  const values = [
    "Buy",
    3,
    true,
    ["a.txt"],
    { url: "https://shop.test/" },
    "{{name}}",
    ["geolocation"],
    "ok",
  ];
  const fits = (type: z.core.$ZodType) => {
    const options = type instanceof z.ZodEnum ? [...type.options, ...values] : values;
    return options.find((value) => z.safeParse(type, value).success) ?? "{{name}}";
  };
  const needed = Object.entries(input.shape).filter(([, type]) => !z.safeParse(type, undefined).success);
  const least = Object.fromEntries(needed.map(([key, type]) => [key, fits(type)]));
  if (input.safeParse(least).success) return least;
  const [more] = Object.entries(input.shape).flatMap(([key, type]) => {
    const inner = type instanceof z.ZodOptional ? type.unwrap() : type;
    const given = { ...least, [key]: fits(inner) };
    return input.safeParse(given).success ? [given] : [];
  });
  return more ?? least;
}

const { commands, checks } = builtInVerbs();
const offers = [...commands.values(), ...checks.values()].flatMap(([offer]) => offer ?? []);

describe("every command and check", () => {
  test.each(
    offers.map((offer) => [offer.name, offer] as const),
  )("%s is a step with its arguments", (name, offer) => {
    const args = argumentsOf(offer.input);
    const isCheck = checks.has(name);
    const beside = isCheck ? { timeout_ms: 1_234, label: "why" } : { iterator: 2, id: "own" };
    for (const step of [
      { [name]: args, ...beside },
      ...(isCheck ? [{ not: { [name]: args }, id: "own", verification_type: "web" }] : []),
    ])
      expect(again([step])).toEqual([step]);
    // Its usual words, its bare name or itself; whichever it is stays.
    const { problems, parse } = compiled([{ [name]: args }]);
    expect(problems).toEqual([]);
    const [, block] = parse().blocks;
    expect(block).toMatchObject({ type: isCheck ? "verification" : "action", command: name, params: args });
    const written = stepsOf(parse(), language);
    expect(again(written ?? [])).toEqual(written);
    const [, back] = compiled(written ?? []).parse().blocks;
    expect({ ...back, label: undefined }).toEqual({ ...block, label: undefined });
  });

  test("is reported from the others by its name alone", () => {
    const names = [...commands.keys(), ...checks.keys(), ...Object.keys(kinds), ...loopVerbs, "not"];
    expect(names.filter((name, at) => names.indexOf(name) < at)).toEqual([]);
    expect(names).not.toEqual(expect.arrayContaining(["label"]));
  });

  test("and every kind of block can be a step", () => {
    const made = new Set([...Object.values(kinds).map(({ type }) => type), "action", "verification", "loop"]);
    expect(blockTypes.filter((type) => !made.has(type))).toEqual(["start", "success", "failure"]);
  });
});

describe("steps that are objects", () => {
  test.each<[string, unknown]>([
    ["go", { go: "{{node}}" }],
    ["go with an id", { go: "Home", id: "home", label: "the start" }],
    ["call", { call: { testcase: "add one", inputs: { title: "milk" } } }],
    ["call of a name that words cannot say", { call: "an unknown; one" }],
    ["script", { script: "clean.py" }],
    ["script with arguments", { script: { script: "clean.py", args: ["a"], timeout_ms: 5 } }],
    ["set", { set: { total: "{{ 1 + 1 }}" } }],
    ["condition", { condition: "total > 3" }],
    ["api_request", { api_request: { url: "/x", expect_status: 200, method: "POST" }, id: "posted" }],
    ["get_current_time", "get_current_time"],
    ["into", { get_text: { selector: "#sum" }, into: "total" }],
    ["a command that needs no arguments", "go_back"],
    ["action_type", { press_key: { key: "OK" }, action_type: "remote" }],
    [
      "retries",
      {
        click_element: { selector: "A" },
        retry_actions: ["press OK", "reload"],
        failure_actions: ["press BACK"],
      },
    ],
    ["repeat", { repeat: 3, steps: ['click "More"'] }],
    [
      "while",
      {
        while: "loop.index < 2",
        on_failure: "continue",
        id: "again",
        steps: [{ repeat: 2, steps: ["reload"] }],
      },
    ],
    ["words with both kinds of quotes", { click_element: { selector: `a"b'c` } }],
  ])("%s come back as they were written", (_, step) => {
    expect(again([step])).toEqual([step]);
  });

  test("become usual words where these mean exactly the same", () => {
    const said = again([
      { click_element: { selector: 'role=link[name="A"]' } },
      { input_text: { selector: "A", text: "" } },
      { press_key: { key: "OK", count: 2 } },
      { not: { element_enabled: { selector: "A" } } },
      { text_visible: { text: "A" }, timeout_ms: 1_500 },
      { sleep: 2_000 },
      { go: "Home" },
      { go: 'it\'s "odd"' },
    ]);
    expect(said).toEqual([
      `click 'role=link[name="A"]'`,
      'clear "A"',
      { press_key: { key: "OK", count: 2 } },
      'check "A" is disabled',
      'wait for text "A" for 1500 ms',
      "wait 2 s",
      "go to Home",
      'go to it\'s "odd"',
    ]);
  });
});

describe("blocks", () => {
  const start: Block = { id: "start", type: "start" };
  const end: Block = { id: "done", type: "success" };
  const tap = (id: string, more = {}) => ({
    id,
    type: "action",
    command: "click_element",
    params: { selector: "Buy" },
    ...more,
  });
  const graph = (blocks: object[], edges: object[]) =>
    testcaseSchema.parse({ name: "x", blocks: [start, ...blocks, end], edges });
  const row = (...ids: string[]) => ids.slice(1).map((to, at) => ({ from: ids[at], to }));

  test("keep ids that someone gave, and those of our own that something names", () => {
    const blocks = [
      tap("buy"),
      tap("s7"),
      tap("s9", { params: { selector: "{{s9x.output.a}} {{s4.output.a}}" } }),
      tap("s4"),
    ];
    const steps = stepsOf(graph(blocks, row("start", "buy", "s7", "s9", "s4", "done")), language);
    expect(steps).toEqual([
      { click_element: { selector: "Buy" }, id: "buy" },
      'click "Buy"',
      'click "{{s9x.output.a}} {{s4.output.a}}"',
      'click "Buy"',
    ]);
    const moved = [tap("s4"), tap("s1", { params: { selector: "{{s4.output.a}}" } })];
    expect(stepsOf(graph(moved, row("start", "s4", "s1", "done")), language)?.[0]).toEqual({
      ...{ click_element: { selector: "Buy" }, id: "s4" },
    });
  });

  test("whose label says something else keep their label", () => {
    const blocks = [tap("s1", { label: 'click "B"' }), tap("s2", { label: "Buy it" })];
    expect(stepsOf(graph(blocks, row("start", "s1", "s2", "done")), language)).toEqual([
      { click_element: { selector: "Buy" }, label: 'click "B"' },
      { click_element: { selector: "Buy" }, label: "Buy it" },
    ]);
  });

  test.each<[string, object[], object[]]>([
    [
      "an edge for failure",
      [tap("a"), tap("b")],
      [...row("start", "a", "b", "done"), { from: "a", to: "done", on: "failure" }],
    ],
    [
      "two ends",
      [tap("a"), { id: "bad", type: "failure" }],
      [...row("start", "a", "done"), { from: "a", to: "bad", on: "failure" }],
    ],
    ["a block that nothing reaches", [tap("a"), tap("b")], row("start", "a", "done")],
    ["a command that no driver has", [tap("a", { command: "clik" })], row("start", "a", "done")],
    [
      "arguments that the command does not take",
      [tap("a", { params: { selectr: "A" } })],
      row("start", "a", "done"),
    ],
    ["a check as an action", [tap("a", { command: "element_visible" })], row("start", "a", "done")],
    [
      "an end with a label",
      [tap("a"), { id: "end", type: "success", label: "bought" }],
      row("start", "a", "end"),
    ],
    ["a cycle", [tap("a"), tap("b")], row("start", "a", "b", "a")],
    [
      "a loop that is none",
      [
        {
          id: "l",
          type: "loop",
          iterations: 2,
          body: { blocks: [start, tap("a"), end], edges: row("start", "done") },
        },
      ],
      row("start", "l", "done"),
    ],
    [
      "an id that the place of another step gives",
      [tap("s2", { label: "a {{s2.output.x}}" }), tap("s1")],
      row("start", "s2", "s1", "done"),
    ],
  ])("with %s stay blocks", (_, blocks, edges) => {
    const ends = blocks.some((block) => Object(block).type === "success") ? [] : [end];
    const value = { name: "x", blocks: [start, ...blocks, ...ends], edges };
    expect(stepsOf(testcaseSchema.parse(value), language)).toBeUndefined();
  });
});

/** Rows of `what | the step as JSON | what is said`, with … for anything. */
const wrong = `
words that no phrase fits | "clik on it" | steps.0: clik on it: not understood; nearest:  … click "X"
a node that is not there | "go to Hom" | steps.0: go to Hom: no node is called "Hom"; nearest: Home
a test that is not there | "call test log im" | steps.0:  … ; nearest: log in
a torn quote | "click \\"a" | a quote is not closed: in YAML, quote the whole step
no words | " " | steps.0: a step says what to do
a number | 7 | steps.0: a step is words
an unknown verb | {"clik_element":{}} | steps.0: unknown command or check "clik_element"; did you mean "click_element"?
a colon in words | {"type \\"a":"b\\" into \\"X\\""} | in YAML, quote the whole step
two verbs | {"reload":null,"press_key":{}} | steps.0: a step does one thing; this one has reload and press_key
no verb | {"id":"a"} | steps.0: the step names no command, check or kind of block
an unknown argument | {"input_text":{"selectr":"A","text":"x"}} | steps.0: input_text: unknown key "selectr"; did you mean "selector"?
arguments without names | {"click_element":"Buy"} | steps.0.click_element: click_element takes its arguments by name
a key beside the verb | {"click_element":{"selector":"A"},"timeout_ms":5} | unknown key "timeout_ms" next to click_element;  … its arguments below it
a misspelt key beside the verb | {"get_text":{"selector":"A"},"inot":"x"} | steps.0: unknown key "inot" next to get_text; did you mean "into"?
not of a command | {"not":{"reload":null}} | steps.0.not: not takes one check
an id in a call | {"call":{"testcase":"log in","id":"x"}} | steps.0.call: "id" is not allowed in call
a loop without steps | {"repeat":3} | steps.0: repeat needs steps, a list of the steps that it repeats
a step in a loop | {"while":"true","steps":["reload","danse"]} | steps.0.steps.1: danse: not understood
a retry that is no command | {"reload":null,"retry_actions":["go to Home"]} | steps.0.retry_actions.0: here stand commands … type navigation
a retry with a wrong key | {"reload":null,"retry_actions":[{"reload":null,"wait_ms":-1}]} | steps.0.retry_actions.0.wait_ms: 
`;
const table = (rows: string): [what: string, step: string, message: string][] =>
  rows
    .trim()
    .split("\n")
    .map((row) => {
      const [what = "", step = "", message = ""] = row.split(" | ");
      return [what, step, message];
    });

describe("what is wrong with a step is reported with its place", () => {
  test.each(table(wrong))("%s", (_, step, message) => {
    const { problems } = compiled([JSON.parse(step)]);
    expect(problems).toHaveLength(1);
    let at = 0;
    for (const part of message.split(" … ")) {
      expect(problems[0]?.slice(at)).toContain(part);
      at += (problems[0]?.slice(at).indexOf(part) ?? 0) + part.length;
    }
  });

  test("every wrong step is reported at once", () => {
    expect(compiled(["danse", "reload", "sing"]).problems.map((line) => line.split(":")[0])).toEqual([
      "steps.0",
      "steps.2",
    ]);
  });
});
