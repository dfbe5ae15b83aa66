import { type StateWord, stateWords } from "@labwright/controllers";
import type { expect } from "@playwright/test";
import type { Locator, Page } from "playwright-core";

/**
 * `there`: the check holds. `otherwise`: its subject is there and it does not hold. `hidden`: it holds of something that cannot
 * be seen. `wrong`: the subject is of a kind that the check says nothing of.
 */
export const subjects = ["there", "otherwise", "absent", "several", "hidden", "wrong"] as const;
export type Subject = (typeof subjects)[number];

type Params = Readonly<Record<string, unknown>>;
type Patience = { timeout: number };
type OnElement = ReturnType<typeof expect<Locator>>["not"];
type OnPage = ReturnType<typeof expect<Page>>["not"];

/** A check with its equal in Playwright, or with the verdicts to expect where Playwright has none: plain and negated. */
export type Row = {
  check: string;
  params?: Params;
  of: Readonly<Partial<Record<Subject, Params>>>;
  playwright?(expects: OnElement, params: Params, patience: Patience): Promise<void>;
  page?(expects: OnPage, params: Params, patience: Patience): Promise<void>;
  holds?: Readonly<Partial<Record<Subject, readonly [plain: boolean, negated: boolean]>>>;
};

const at = (selector: string): Params => ({ selector: `css=${selector}` });
const none = at("#none");
const twins = at(".twin");

const sight: readonly Row[] = [
  {
    check: "element_exists",
    of: { there: at("#go"), absent: none, several: twins, hidden: at("#goGone") },
    playwright: (expects, _, patience) => expects.toBeAttached(patience),
  },
  {
    check: "element_visible",
    of: { there: at("#go"), absent: none, several: twins, hidden: at("#goGone") },
    playwright: (expects, _, patience) => expects.toBeVisible(patience),
  },
  {
    check: "element_hidden",
    of: { there: at("#goGone"), otherwise: at("#go"), absent: none, several: twins },
    playwright: (expects, _, patience) => expects.toBeHidden(patience),
  },
  {
    check: "element_count",
    params: { count: 2 },
    of: { there: at(".item"), otherwise: at("#go"), absent: none, hidden: at(".ghost") },
    playwright: (expects, _, patience) => expects.toHaveCount(2, patience),
  },
  {
    check: "element_count",
    params: { count: 0 },
    of: { there: none, otherwise: at("#go"), hidden: at("#goGone") },
    playwright: (expects, _, patience) => expects.toHaveCount(0, patience),
  },
];

type States = Pick<Row, "of" | "playwright">;
const wrong = at("#heading");
const rest = { absent: none, several: twins, wrong };
const boxes = { there: at("#yes"), otherwise: at("#no"), hidden: at("#yesGone"), ...rest };
const blanks = { there: at("#no"), otherwise: at("#yes"), hidden: at("#noGone"), ...rest };
const attribute =
  (name: string, value: string): NonNullable<Row["playwright"]> =>
  (expects, _, patience) =>
    expects.toHaveAttribute(name, value, patience);
const property =
  (name: string, value: boolean): NonNullable<Row["playwright"]> =>
  (expects, _, patience) =>
    expects.toHaveJSProperty(name, value, patience);
const checked: Row["playwright"] = (expects, _, patience) => expects.toBeChecked(patience);
const unchecked: Row["playwright"] = (expects, _, patience) =>
  expects.toBeChecked({ ...patience, checked: false });
const enabled: States = {
  of: { there: at("#go"), otherwise: at("#off"), hidden: at("#goGone"), ...rest },
  playwright: (expects, _, patience) => expects.toBeEnabled(patience),
};
const disabled: States = {
  of: { there: at("#off"), otherwise: at("#go"), hidden: at("#offGone"), ...rest },
  playwright: (expects, _, patience) => expects.toBeDisabled(patience),
};
const focused: States = {
  of: { there: at("#name"), otherwise: at("#other"), hidden: at("#nameGone"), ...rest },
  playwright: (expects, _, patience) => expects.toBeFocused(patience),
};
const editable: States = {
  of: { there: at("#name"), otherwise: at("#fixed"), hidden: at("#nameGone"), ...rest },
  playwright: (expects, _, patience) => expects.toBeEditable(patience),
};

const states: Readonly<Record<StateWord, States>> = {
  checked: { of: boxes, playwright: checked },
  unchecked: { of: blanks, playwright: unchecked },
  mixed: {
    of: { there: at("#half"), otherwise: at("#no"), hidden: at("#halfGone"), ...rest },
    playwright: (expects, _, patience) => expects.toBeChecked({ ...patience, indeterminate: true }),
  },
  on: { of: boxes, playwright: checked },
  off: { of: blanks, playwright: unchecked },
  selected: {
    of: { there: at("#one"), otherwise: at("#two"), hidden: at("#oneGone"), ...rest },
    playwright: attribute("aria-selected", "true"),
  },
  pressed: {
    of: { there: at("#bold"), otherwise: at("#thin"), hidden: at("#boldGone"), ...rest },
    playwright: attribute("aria-pressed", "true"),
  },
  expanded: {
    of: { there: at("#menu"), otherwise: at("#shut"), hidden: at("#menuGone"), ...rest },
    playwright: attribute("aria-expanded", "true"),
  },
  collapsed: {
    of: { there: at("#shut"), otherwise: at("#menu"), hidden: at("#shutGone"), ...rest },
    playwright: attribute("aria-expanded", "false"),
  },
  open: {
    of: { there: at("#more"), otherwise: at("#less"), hidden: at("#moreGone"), ...rest },
    playwright: property("open", true),
  },
  closed: {
    of: { there: at("#less"), otherwise: at("#more"), hidden: at("#lessGone"), ...rest },
    playwright: property("open", false),
  },
  current: {
    of: { there: at("#here"), otherwise: at("#away"), hidden: at("#hereGone"), ...rest },
    playwright: attribute("aria-current", "page"),
  },
  enabled,
  disabled,
  editable,
  readonly: {
    of: { there: at("#fixed"), otherwise: at("#name"), hidden: at("#fixedGone"), ...rest },
    playwright: (expects, _, patience) => expects.toBeEditable({ ...patience, editable: false }),
  },
  required: {
    of: { there: at("#must"), otherwise: at("#name"), hidden: at("#mustGone"), ...rest },
    playwright: property("required", true),
  },
  optional: {
    of: { there: at("#name"), otherwise: at("#must"), hidden: at("#nameGone"), ...rest },
    playwright: property("required", false),
  },
  invalid: {
    of: { there: at("#bad"), otherwise: at("#name"), hidden: at("#badGone"), ...rest },
    playwright: attribute("aria-invalid", "true"),
  },
  valid: {
    of: { there: at("#name"), otherwise: at("#bad"), hidden: at("#nameGone"), ...rest },
    playwright: (expects, _, patience) => expects.toHaveAccessibleErrorMessage("", patience),
  },
  busy: {
    of: { there: at("#busy"), otherwise: at("#idle"), hidden: at("#busyGone"), absent: none, several: twins },
    playwright: attribute("aria-busy", "true"),
  },
  focused,
};

const stateRows: readonly Row[] = [
  ...stateWords.map((state) => ({ check: "element_state", params: { state }, ...states[state] })),
  { check: "element_checked", ...states.checked },
  { check: "element_enabled", ...enabled },
  { check: "element_disabled", ...disabled },
  { check: "element_focused", ...focused },
  { check: "element_editable", ...editable },
];

const some = { absent: none, several: twins };

const contents: readonly Row[] = [
  {
    check: "element_text",
    params: { text: "Go" },
    of: { there: at("#go"), otherwise: at("#stop"), hidden: at("#goGone"), ...some },
    playwright: (expects, _, patience) => expects.toHaveText("Go", patience),
  },
  {
    check: "element_value",
    params: { value: "Ada" },
    of: { there: at("#name"), otherwise: at("#other"), hidden: at("#nameGone"), ...rest },
    playwright: (expects, _, patience) => expects.toHaveValue("Ada", patience),
  },
  {
    check: "element_attribute",
    params: { attribute: "title" },
    of: { there: at("#go"), otherwise: at("#stop"), hidden: at("#goGone"), ...some },
    playwright: (expects, _, patience) => expects.toHaveAttribute("title", patience),
  },
  {
    check: "element_name",
    params: { name: "Ada's name" },
    of: { otherwise: at("#name"), ...some },
    playwright: (expects, _, patience) => expects.toHaveAccessibleName("Ada's name", patience),
  },
  {
    check: "element_name",
    params: { name: "Name" },
    of: { there: at("#name"), otherwise: at("#other"), hidden: at("#nameGone"), ...some },
    playwright: (expects, _, patience) => expects.toHaveAccessibleName("Name", patience),
  },
  {
    check: "element_role",
    params: { role: "button" },
    of: { there: at("#go"), otherwise: at("#heading"), hidden: at("#goGone"), ...some },
    playwright: (expects, _, patience) => expects.toHaveRole("button", patience),
  },
  {
    check: "element_class",
    params: { classes: "red" },
    of: { there: at("#go"), otherwise: at("#stop"), hidden: at("#goGone"), ...some },
    playwright: (expects, _, patience) => expects.toContainClass("red", patience),
  },
  {
    check: "element_css",
    params: { property: "color", value: "rgb(255, 0, 0)" },
    of: { there: at("#go"), otherwise: at("#stop"), hidden: at("#goGone"), ...some },
    playwright: (expects, _, patience) => expects.toHaveCSS("color", "rgb(255, 0, 0)", patience),
  },
  {
    check: "element_empty",
    of: { there: at("#empty"), otherwise: at("#filled"), ...some },
    playwright: (expects, _, patience) => expects.toBeEmpty(patience),
  },
  {
    check: "element_description",
    params: { text: "Pays" },
    of: { there: at("#go"), otherwise: at("#stop"), hidden: at("#goGone"), ...some },
    playwright: (expects, _, patience) => expects.toHaveAccessibleDescription("Pays", patience),
  },
  {
    check: "element_error",
    params: { text: "Too young" },
    of: { there: at("#bad"), otherwise: at("#name"), hidden: at("#badGone"), ...some },
    playwright: (expects, _, patience) => expects.toHaveAccessibleErrorMessage("Too young", patience),
  },
  {
    check: "element_texts",
    params: { texts: ["Tea", "Bread"] },
    of: { there: at(".item"), otherwise: twins, absent: none, hidden: at(".ghost") },
    playwright: (expects, _, patience) => expects.toHaveText(["Tea", "Bread"], patience),
  },
  {
    check: "layout",
    params: { is: "in_window" },
    of: { there: at("#go"), otherwise: at("#below"), hidden: at("#goGone"), ...some },
    playwright: (expects, _, patience) => expects.toBeInViewport({ ...patience, ratio: 1 }),
  },
  {
    check: "value_between",
    params: { min: 4, max: 6 },
    of: { there: at("#five"), otherwise: at("#nine"), hidden: at("#fiveGone"), ...rest },
    holds: { there: [true, false], otherwise: [false, true], hidden: [true, false] },
  },
  {
    check: "table_cell",
    params: { row: "Tea", column: "Price", text: "3" },
    of: {
      there: at("#table"),
      otherwise: { ...at("#table"), text: "4" },
      hidden: at("#tableGone"),
      wrong: at("#list"),
      ...some,
    },
    holds: { there: [true, false], otherwise: [false, true] },
  },
  {
    check: "table_cell",
    params: { ...at("#table"), text: "3" },
    of: { absent: { row: "Milk", column: "Price" }, wrong: { row: "Tea", column: "Weight" } },
    holds: {},
  },
];

/** A check of presence: its opposite holds where there is nothing. */
const presence = { there: [true, false], absent: [false, true] } as const;

const ofPage: readonly Row[] = [
  {
    check: "url_matches",
    of: { there: { url: "about:blank" }, otherwise: { url: "elsewhere" } },
    page: (expects, { url }, patience) => expects.toHaveURL(new RegExp(String(url)), patience),
  },
  {
    check: "title_matches",
    of: { there: { title: "Shop" }, otherwise: { title: "Cart" } },
    page: (expects, { title }, patience) => expects.toHaveTitle(String(title), patience),
  },
  {
    check: "text_visible",
    of: { there: { text: "Plain words" }, absent: { text: "Fancy words" } },
    holds: presence,
  },
  {
    check: "app_shown",
    params: {},
    of: { absent: { app: "https://shop.example" } },
    holds: presence,
  },
  { check: "dialog_seen", of: { absent: { text: "Sure?" } }, holds: presence },
  { check: "console_error_seen", of: { absent: { text: "boom" } }, holds: presence },
  {
    check: "accessible",
    params: { rules: ["image-alt"] },
    of: { there: {}, otherwise: { rules: ["html-has-lang"] }, absent: { within: "#none" } },
    holds: { there: [true, false], otherwise: [false, true], absent: [false, false] },
  },
  {
    check: "page_vitals",
    of: { there: { max_cls: 100 }, wrong: { max_inp_ms: 100 } },
    holds: { there: [true, false], wrong: [false, false] },
  },
  { check: "no_page_errors", of: { there: {} }, holds: presence },
  {
    check: "selected_text",
    of: { there: { text: "" }, absent: { text: "words" } },
    holds: { there: [true, false], absent: [false, false] },
  },
  {
    check: "request_seen",
    of: { absent: { url: "/api" }, wrong: { url: "/api", body: "x" } },
    holds: presence,
  },
  {
    check: "download_received",
    of: { absent: { name: "a.csv" }, wrong: { name: "a.csv", text: "x" } },
    holds: presence,
  },
];

export const rows: readonly Row[] = [...sight, ...stateRows, ...contents, ...ofPage];

const severalSeen = "of several matches, one that can be seen is enough; Playwright wants exactly one";
const noKind =
  "a heading has no such state, so neither answer is true; an attribute or property is just not there";
const notUsable = "nobody can use what cannot be seen; Playwright asks for the attribute alone";
const noControl = "a heading is no control; Playwright calls whatever is not disabled enabled";
const named = "a thing keeps its name while it is hidden; Playwright gives hidden things none";
const nothingRead = "nothing was read; Playwright's negated assertion holds of no element";

/** Where a verdict differs from Playwright's, and why. */
export const differences: Readonly<Record<string, string>> = {
  "element_exists several": severalSeen,
  "element_visible several": severalSeen,
  "element_hidden several, negated": severalSeen,
  "element_state selected wrong, negated": noKind,
  "element_state pressed wrong, negated": noKind,
  "element_state expanded wrong, negated": noKind,
  "element_state collapsed wrong, negated": noKind,
  "element_state open wrong, negated": noKind,
  "element_state closed wrong, negated": noKind,
  "element_state current wrong, negated": noKind,
  "element_state required wrong, negated": noKind,
  "element_state optional wrong, negated": noKind,
  "element_state invalid wrong, negated": noKind,
  "element_state valid wrong": noKind,
  "element_state enabled hidden": notUsable,
  "element_state disabled hidden": notUsable,
  "element_enabled hidden": notUsable,
  "element_disabled hidden": notUsable,
  "element_state enabled wrong": noControl,
  "element_state disabled wrong, negated": noControl,
  "element_enabled wrong": noControl,
  "element_disabled wrong, negated": noControl,
  "element_name hidden": named,
  "element_name hidden, negated": named,
  "element_texts absent, negated": nothingRead,
  "layout absent, negated": nothingRead,
};
