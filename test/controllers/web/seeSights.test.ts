import { expect, it } from "vitest";
import { sights } from "../../fixtures/sights.ts";
import { openForTests, type SeeingPage } from "./seeSession.ts";

let see: SeeingPage;
openForTests((opened) => {
  see = opened;
});

async function holds(name: string, input: Record<string, unknown>): Promise<boolean | undefined> {
  const check = see.checks.find((one) => one.name === name);
  return (await check?.read(input, new AbortController().signal))?.holds;
}

it.each(sights)("$what", async ({ html, seen, playwright = seen }) => {
  await see.page.setContent(`<!doctype html>${html}`);
  const answers = {
    element: await holds("element_visible", { selector: "#x" }),
    text: await holds("text_visible", { text: "Secret sauce" }),
    playwright: await see.page.locator("#x").isVisible(),
  };
  expect(answers).toEqual({ element: seen, text: seen, playwright });
});
