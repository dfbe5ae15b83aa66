import type { Selector } from "@labwright/controllers";

const kinds: Readonly<Record<Selector["kind"], string>> = {
  testid: "test id",
  role: "role and name",
  label: "label",
  placeholder: "placeholder",
  id: "id",
  text: "text",
  css: "place in the page's structure",
  xpath: "place in the page's structure",
};

/** What of a text is seldom the same tomorrow; the first that fits is said. */
const changing: readonly (readonly [string, RegExp])[] = [
  ["a price", /[$€£¥]\s?\d|\d\s?[$€£¥]|\b\d+[.,]\d\d\b/],
  ["a time", /\b\d{1,2}:\d\d/],
  ["a date", /\b\d{4}-\d\d-\d\d\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b/],
  ["a number", /\d/],
];

/** Below this an id was lowered: whoever ranks selectors takes it for one that a program made up. */
const steadyId = 0.6;

/** What speaks for and against a selector being good tomorrow, in a few words each. */
export function reasonsOf({ kind, selector, unique, score }: Selector): string[] {
  const isId = kind === "id" || kind === "testid";
  const changes = isId || kind === "css" || kind === "xpath" ? undefined : changingPart(selector);
  // A twin costs 0.3, a generated id 0.5.
  const isGenerated = isId && score + (unique ? 0 : 0.3) < steadyId;
  return [
    kinds[kind],
    ...(changes ? [`has ${changes} in it`] : []),
    ...(isGenerated ? ["looks generated"] : []),
    ...(unique ? [] : ["not unique on this screen"]),
  ];
}

function changingPart(selector: string): string | undefined {
  const value = selector.replace(/^[a-z]+=/, "");
  return changing.find(([, pattern]) => pattern.test(value))?.[0];
}
