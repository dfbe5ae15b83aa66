import { describe, expect, test } from "vitest";
import { describeStep, graphOf } from "#mcp-server/services/apps/authoring/graph.ts";
import { readSentence } from "#mcp-server/services/apps/authoring/phrases.ts";
import { sentencesOf, unmark } from "#mcp-server/services/apps/authoring/sentences.ts";
import type { Place, Vocabulary } from "#mcp-server/services/apps/authoring/types.ts";

const sees = (text: string) => ({ command: "text_visible", params: { text } });
const place = (label: string, more: Partial<Place> = {}): Place => ({
  label,
  verifications: [sees(label)],
  pass_condition: "all",
  ...more,
});
const vocabulary: Vocabulary = {
  places: [
    place("Home"),
    place("Settings"),
    place("Settings page"),
    place("Terms and Conditions"),
    place("Cart", { verifications: [sees("Your cart"), { ...sees("Pay"), timeout_ms: 9_000 }] }),
    place("Player", { verifications: [sees("Pause"), sees("Play")], pass_condition: "any" }),
    place("Splash", { verifications: [{ ...sees("Error"), negate: true }] }),
    place("Nowhere", { verifications: [] }),
    place("menu"),
    place("Menu"),
  ],
  testcases: ["log in", "Log out"],
  commands: undefined,
  checks: undefined,
};

/** Each sentence as it was understood, else why it was not. */
const read = (text: string, words = vocabulary) =>
  sentencesOf(text)
    .flatMap((sentence) => readSentence(sentence, words))
    .map((reading) =>
      "step" in reading
        ? describeStep(reading.step).replace(/^.* -> /, "")
        : `? ${reading.not.reason}${reading.not.nearest ? ` (${reading.not.nearest.join(", ")})` : ""}`,
    );

describe("a phrase", () => {
  test.each([
    ["go to Home", "navigation Home"],
    ["Navigate to the  HOME  screen", "navigation Home"],
    ['open "settings"', "navigation Settings"],
    ["go to Settings page", "navigation Settings page"],
    ["go to Terms and Conditions", "navigation Terms and Conditions"],
    ["geh zu Home", "navigation Home"],
    ["aller à Home", "navigation Home"],
    ["go to Menu", "navigation Menu"],
    ["open https://shop.test/a.b?c=d", 'navigate_to_url url="https://shop.test/a.b?c=d"'],
    ["tap on “Don't ask again”", 'click_element selector="Don\'t ask again"'],
    ["klicke auf „Weiter“", 'click_element selector="Weiter"'],
    ["cliquer sur « Payer »", 'click_element selector="Payer"'],
    ["press OK", 'press_key key="OK"'],
    ["log out", "call_testcase Log out"],
    ["sign in", 'click_element selector="Sign in"'],
    ["Then log in to the app", "call_testcase log in"],
    ["sign out", 'click_element selector="Sign out"'],
    ['wait until "Pay" is enabled', 'element_enabled selector="Pay"'],
    ['check "Save" isn\'t disabled', 'element_enabled selector="Save"'],
    ['check the "One" tab is selected', 'element_state selector="One" state="selected"'],
    ['check "One" is not selected', 'not element_state selector="One" state="selected"'],
    ['check "Bold" is pressed', 'element_state selector="Bold" state="pressed"'],
    ['check "Menu" is open', 'element_state selector="Menu" state="open"'],
    ['wait until "Menu" is collapsed', 'element_state selector="Menu" state="collapsed"'],
    ['check "Gift" is unticked', 'element_state selector="Gift" state="unchecked"'],
    ['"Name" should be read-only', 'element_state selector="Name" state="readonly"'],
    ['check "Wi-Fi" is off', 'element_state selector="Wi-Fi" state="off"'],
    ['type "a and b. c" into the "Email" field', 'input_text selector="Email" text="a and b. c"'],
    ['type "{{secret.PIN}}" into "PIN"', 'input_text selector="PIN" text="{{secret.PIN}}"'],
    ["check that Home is shown", 'text_visible text="Home"'],
    ["verify the Cart screen is visible", 'text_visible text="Your cart", text_visible text="Pay"'],
    ["the Player screen is displayed", 'text_visible text="Pause" or text_visible text="Play"'],
    ["make sure Home is not shown", 'not text_visible text="Home"'],
    ["check that Splash is shown", 'not text_visible text="Error"'],
    ["verify that we are on Home", 'text_visible text="Home"'],
    ['vérifie que le texte "Bonjour" est affiché', 'text_visible text="Bonjour"'],
    ["call test Log In", "call_testcase log in"],
    ['run test case "log out"', "call_testcase Log out"],
  ])("%s", (text, meaning) => {
    expect(read(text)).toEqual([meaning]);
  });

  test.each([
    ["go to Hom", '? no node is called "Hom" (Home)'],
    ["go to MENU", '? several nodes are called "MENU" (menu, Menu)'],
    ["click Sign in", '? what is clicked is given in quotes, as in click "Sign in"'],
    ["check that Nowhere is shown", '? the node "Nowhere" has no verification to know it by'],
    ["check that Cart is not shown", '? the node "Cart" has several verifications; say what is not shown'],
    ["call test log im", '? no test case is called "log im" (log in, Log out)'],
    ["sing a song", expect.stringMatching(/^\? not understood \(.+\)$/)],
    ["clik on it", expect.stringContaining('click "X"')],
    ["upload it please", expect.stringContaining('upload "FILE" to "X"')],
    ['upload "a.pdf"', expect.stringContaining("which field takes the file")],
  ])("%s is not understood, with the reason and what is nearest", (text, reason) => {
    expect(read(text)).toEqual([reason]);
  });
});

test("an ordinal takes one of several elements of a name, whatever quotes the name holds", () => {
  const [second] = read('click the second "Add" button');
  expect(second).toMatch(/^click_element selector=".*normalize-space\(\.\)=\\"Add\\".*\)\[2\]"$/);
  expect(read('click the last "Add"')[0]).toContain("[last()]");
  expect(read('type "x" into the 3rd "Name" field')[0]).toContain("[3]");
  expect(read('click the first « it\'s "so" »')[0]).toContain("[1]");
});

test("a sentence that is several steps is taken apart, and what fails of it alone is reported", () => {
  expect(read('Go to Home, click "Cart" and check that Cart is shown')).toEqual([
    "navigation Home",
    'click_element selector="Cart"',
    'text_visible text="Your cart", text_visible text="Pay"',
  ]);
  expect(read("go to Home and then dance")).toEqual([
    "navigation Home",
    expect.stringContaining("? not understood"),
  ]);
});

test("a description is lines, sentences or a numbered list; quotes protect what is in them", () => {
  const text = `1. Go to Home. Press OK; press BACK
    Step 2: type "3. a; b" into "Note"
    - check text "Dr. No." is visible.\n\n`;
  expect(sentencesOf(text).map(unmark)).toEqual([
    "Go to Home",
    "Press OK",
    "press BACK",
    'type "3. a; b" into "Note"',
    'check text "Dr. No." is visible',
  ]);
  expect(sentencesOf(" \n ")).toEqual([]);
});

test("an address is opened on a phone by what a phone has", () => {
  const phone = { ...vocabulary, commands: new Set(["open_deep_link", "press_key"]) };
  expect(read("open https://shop.test/a", phone)).toEqual(['open_deep_link url="https://shop.test/a"']);
});

test("no phrase makes a command or a check that the device has not", () => {
  const box = { ...vocabulary, commands: new Set(["press_key"]), checks: new Set(["text_visible"]) };
  expect(read('click "OK"', box)).toEqual(["? the device has no command click_element"]);
  expect(read('check "OK" is enabled', box)).toEqual([
    "? the device has no check element_enabled (text_visible)",
  ]);
  expect(read("press OK", box)).toEqual(['press_key key="OK"']);
});

test("what is longer than any step is not read at all", () => {
  expect(read("go to x and ".repeat(600))).toEqual(["? too long for a step; write a step a line"]);
  expect(read(`type "${"long ".repeat(600)}" into "Note"`)).toHaveLength(1);
});

test("alternatives hang on each other's failure, all else in a row, and nothing else catches a failure", () => {
  const steps = sentencesOf("go to Home\ncheck that Player is shown\ncheck that Cart is shown").flatMap(
    (sentence) => readSentence(sentence, vocabulary).flatMap((one) => ("step" in one ? [one.step] : [])),
  );
  const { blocks, edges } = graphOf(steps);
  expect(blocks.map(({ id }) => id)).toEqual(["start", "s1", "s2_1", "s2_2", "s3_1", "s3_2", "success"]);
  expect(blocks[5]).toMatchObject({ label: "check that Cart is shown", timeout_ms: 9_000 });
  expect(edges).toEqual([
    { from: "start", to: "s1" },
    { from: "s1", to: "s2_1" },
    { from: "s2_1", to: "s3_1" },
    { from: "s2_1", to: "s2_2", on: "failure" },
    { from: "s2_2", to: "s3_1" },
    { from: "s3_1", to: "s3_2" },
    { from: "s3_2", to: "success" },
  ]);
});
