import { ranking, type Selector } from "@labwright/controllers";

const kinds: Readonly<Record<Selector["kind"], string>> = {
  testid: "test id",
  role: "role and name",
  label: "label",
  placeholder: "placeholder",
  id: "id",
  text: "text",
  css: "place in the screen's structure",
  xpath: "place in the screen's structure",
  native: "what the device's own driver reads",
};

/** What speaks for and against a selector being good tomorrow, in a few words each. */
export function reasonsOf({ kind, selector, unique }: Selector): string[] {
  const value = selector.replace(/^[a-z]+=/, "");
  const isId = kind === "id" || kind === "testid";
  const isWritten = !isId && kind !== "css" && kind !== "xpath" && kind !== "native";
  const changes = isWritten ? ranking.changingPart(value) : undefined;
  return [
    kinds[kind],
    ...(changes ? [`has ${changes.what} in it`] : []),
    ...(isId && ranking.isGenerated(value) ? ["looks generated"] : []),
    ...(unique ? [] : ["not unique on this screen"]),
  ];
}
