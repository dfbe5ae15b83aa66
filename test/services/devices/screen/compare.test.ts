import type { Dump, Element, TextNews } from "@labwright/controllers";
import { expect, test } from "vitest";
import { compareDumps } from "../../../../mcp-server/src/services/devices/screen/compare.ts";

const element = (ref: string, role: string, name: string, more: Partial<Element> = {}): Element => ({
  ref,
  role,
  name,
  states: [],
  depth: 0,
  interactive: role !== "text",
  ...more,
});
const text = (ref: string, name: string) => element(ref, "text", name);
const save = element("e1", "button", "Save");
const open = element("e2", "button", "Open");
const focused = (one: Element): Element => ({ ...one, states: ["focused"] });

const dump = (elements: readonly Element[], others?: readonly Element[]): Dump => ({
  generation: 1,
  location: "app",
  title: "App",
  space: { width: 100, height: 100, rotation: 0 },
  elements,
  ...(others && { others }),
  notices: [],
});
const told = (before: Dump, after: Dump, maxTokens = 800) =>
  compareDumps(before, after, maxTokens, { watchedMs: 30 });

test("a look that leaves texts out says within what time nothing changed, and no focus", () => {
  expect(told(dump([save]), dump([focused(save)])).text).toBe("nothing changed within 30 ms");
});

test("a text that appears or changes is told, one that is drawn anew is not", () => {
  const before = dump([save], [text("e3", "0 €"), text("e4", "Total")]);
  const after = dump([save], [text("e3", "40 €"), text("e9", "Total"), text("e5", "Bought")]);
  expect(told(before, after).text).toBe('+ e5 text "Bought"\n~ e3 text "40 €", was "0 €"');
  const anew = dump([save], [text("e3", "0 €"), text("e8", "Total")]);
  expect(told(before, anew).text).not.toContain("Total");
});

test("a text that is gone is told where nothing stands in its place", () => {
  expect(told(dump([save], [text("e3", "Wait")]), dump([save], [])).text).toBe('- e3 text "Wait"');
});

test("of many texts a few are told, and how many more", () => {
  const many = Array.from({ length: 40 }, (_, at) => text(`e${at + 10}`, `A rather long text, number ${at}`));
  const { text: said, more } = told(dump([save], []), dump([save], many));
  expect(said.split("\n").at(-1)).toMatch(/^\d+ more texts changed$/);
  expect(said.length).toBeLessThan(300);
  expect(more, "a dump has no more of what it lists").toBe(0);
});

test("a moved focus is a line, where no other line says it", () => {
  const before = dump([focused(save), open], []);
  expect(told(before, dump([save, focused(open)], [])).text).toBe('focus: e2 button "Open"');
  expect(told(before, dump([save, open], [])).text).toBe("focus: none");
  const appeared = focused(element("e7", "button", "New"));
  expect(told(before, dump([save, open, appeared], [])).text).toBe('+ e7 button "New" focused');
});

test("what only moved is not told as unchanged", () => {
  const at = (y: number) => dump([{ ...save, rect: { x: 0, y, width: 10, height: 10 } }], []);
  expect(told(at(0), at(0)).text).toBe("no element changed");
  expect(told(at(0), at(20)).text).toBe("only places on the screen changed");
});

const silent: TextNews = { changed: [], more: 0, gone: [], passed: [], first: [] };
const line = (ref: string, said: string, was = "") => ({
  element: element(ref, "text", "", { text: said }),
  was,
});
const newsOf = (...news: Partial<TextNews>[]) =>
  compareDumps(dump([save]), dump([save]), 800, { news: news.map((one) => ({ ...silent, ...one })) }).text;

test("what looks say of texts is told", () => {
  expect(newsOf({ changed: [line("e3", "40 €", "0 €"), line("e4", "Bought")] })).toBe(
    '~ e3 text "40 €", was "0 €"\n+ e4 text "Bought"',
  );
  expect(newsOf({ passed: ["Saved"] })).toBe('shown for a moment: "Saved"');
  expect(newsOf({ gone: ["Wait"] })).toBe('- text "Wait"');
  expect(newsOf({ more: 2 })).toBe("2 more texts changed");
  expect(newsOf({})).toBe("nothing changed");
});

test("of several looks each text has its latest words, and no text is forgotten", () => {
  const news = [{ changed: [line("e3", "1", "0"), line("e4", "new")] }, { changed: [line("e3", "2", "1")] }];
  expect(newsOf(...news)).toBe('~ e3 text "2", was "1"\n+ e4 text "new"');
});

test("many changed texts take no more room than a few", () => {
  const changed = Array.from({ length: 12 }, (_, at) => line(`e${at}`, `A rather long text, number ${at}`));
  const said = newsOf({ changed, more: 5 });
  expect(said).toMatch(/\n\d+ more texts changed$/);
  expect(said.length).toBeLessThan(300);
});
