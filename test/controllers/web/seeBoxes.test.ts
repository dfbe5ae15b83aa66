import { expect, it } from "vitest";
import { openForTests, type SeeingPage } from "./seeSession.ts";

let see: SeeingPage;
openForTests((opened) => {
  see = opened;
});

it.each([
  ["<output>answer false</output><button>Again</button>", "answer false", true],
  ["<output>answer false</output><button>Again</button>", "Again", true],
  ["Cart<span style='display:inline-block'>1</span>", "Cart", true],
  ["Cart<span style='display:inline-block'>1</span>", "Cart1", true],
  ["Cart<span style='display:inline-block'>1</span>", "Cart 1", true],
  ["Total 1<b>2,50 €</b>", "2,50 €", false],
  ["Total 1<b>2,50 €</b>", "Total 12,50 €", true],
])("a box in a line is read glued to the words beside it, and apart: %s, %s", async (html, text, isThere) => {
  await see.page.goto(`data:text/html;charset=utf-8,${encodeURIComponent(`<!doctype html><p>${html}</p>`)}`);
  const check = see.checks.find(({ name }) => name === "text_visible");
  const reading = await check?.read({ text, match: "words" }, new AbortController().signal);
  expect(reading?.holds).toBe(isThere);
});
