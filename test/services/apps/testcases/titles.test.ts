import { expect, test } from "vitest";
import type { Params } from "#mcp-server/domain/index.ts";
import { titleOf } from "#mcp-server/services/apps/testcases/titles.ts";
import { makeWebDevice } from "../../../controllers/web/webDevice.ts";

const device = await makeWebDevice();
await device.close();
const { checks } = device.web;
const titled = (command: string, params: Params) =>
  titleOf(
    command,
    params,
    checks.find(({ name }) => name === command),
  );

const path = "xpath=/html/body/div[3]/main/section[2]/table/tbody/tr[4]/td[2]/span";

test.each([
  ["element_text", { selector: "Total", text: "42 €" }, '"Total" shows "42 €"'],
  ["element_text", { selector: 'label="Total"', text: "42", match: "contains" }, '"Total" shows …"42"…'],
  ["element_text", { selector: path, text: "42 €" }, `the element shows "42 €" (${path.slice(6)})`],
  ["element_visible", { selector: 'role=button[name="Save"]' }, 'button "Save" is visible'],
  ["element_visible", { ref: "e12" }, "the element e12 is visible"],
  ["element_hidden", { selector: "//div[1]" }, "the element is hidden (//div[1])"],
  [
    "element_count",
    { selector: "role=listitem", min: 2, max: 5 },
    "at least 2 and at most 5 of the listitem",
  ],
  ["element_attribute", { selector: "testid=link", attribute: "href", value: "/a" }, '"link" has href "/a"'],
  ["text_visible", { text: "Welcome" }, 'the screen shows "Welcome"'],
  ["url_matches", { url: "/cart$", match: "pattern" }, "the address is //cart$/".replace("//cart", "/cart")],
  ["app_shown", { app: { url: "https://shop.example/" } }, "the app is in front"],
  ["element_visible", { selector: "native=new UiSelector()" }, "the element is visible (new UiSelector())"],
  ["click_element", { selector: "css=.a > .b" }, "click_element (.a > .b)"],
  ["input_text", { selector: "Name", text: "Anna" }, 'input_text "Name" Anna'],
  ["some_other_check", { text: "x" }, "some_other_check x"],
])("%s %j is titled by what it says", (command, params, title) => {
  expect(titled(command, params)).toBe(title);
});

test("a long path is cut, what the check says is not", () => {
  const title = titled("element_text", { selector: `xpath=${"/div[1]".repeat(60)}`, text: "42 €" });
  expect(title.startsWith('the element shows "42 €" (/div[1]')).toBe(true);
  expect(title.length).toBeLessThanOrEqual(120);
});

test("every check of a browser has a title", () => {
  expect(checks.filter(({ title }) => !title).map(({ name }) => name)).toEqual([]);
});
