import { stateWords } from "@labwright/controllers";
import { beforeAll, describe, expect, it } from "vitest";
import { rows } from "./checkVerdictRows.ts";
import { nameOf, prepareVerdicts, unexplained, type Verdict, verdictsOf } from "./checkVerdicts.ts";
import { openForTests, signal } from "./seeSession.ts";

const see = openForTests();
let verdicts: readonly Verdict[];
beforeAll(async () => {
  await prepareVerdicts(see.page);
  verdicts = await verdictsOf(see.page, see.checks);
});

it("every check of a browser and every word of a state has a row, and each row the subjects that it needs", () => {
  const names = new Set(rows.map(nameOf));
  const wanted = see.checks.map(({ name }) => name).filter((name) => name !== "element_state");
  const words = stateWords.map((word) => `element_state ${word}`);
  expect([...wanted, ...words].filter((name) => !names.has(name))).toEqual([]);
});

it("says of what is there, absent, hidden, several or of the wrong kind what Playwright says, plain and negated", () => {
  expect(unexplained(verdicts)).toEqual([]);
  expect(verdicts.length).toBeGreaterThan(4 * rows.length);
});

it("gives no answer, whichever way it is asked, about a state or value that the thing cannot have", () => {
  const aboutKind = verdicts.filter(
    (one) =>
      / wrong\b/.test(one.case) && /^element_(state|checked|enabled|disabled|editable|value) /.test(one.case),
  );
  const answered = aboutKind.filter(({ isInconclusive }) => !isInconclusive).map((one) => one.case);
  // The focus may lie anywhere.
  expect(answered).toEqual(["element_state focused wrong", "element_state focused wrong, negated"]);
});

describe("a state", () => {
  const state = (selector: string, word: string) => see.read("element_state", { selector, state: word });

  it("that a snapshot shows holds for its check", async () => {
    await prepareVerdicts(see.page);
    const { elements } = await see.look.dump({ interactiveOnly: false }, signal);
    const shown = elements.flatMap(({ ref, states }) => states.map((word) => ({ ref, word })));
    expect(new Set(shown.map(({ word }) => word)).size).toBeGreaterThan(8);
    for (const { ref, word } of shown)
      expect([word, (await see.read("element_state", { ref, state: word })).holds]).toEqual([word, true]);
  });

  it("is reported by what the role says it with: a tab is selected, a radio button by being checked", async () => {
    await see.page.setContent(`<div role=tablist><b role=tab aria-selected=true>One</b><b role=tab>Two</b></div>
      <input type=radio name=r checked aria-label=Red><input type=radio name=r aria-label=Blue>
      <select multiple><option selected>Tea</option><option>Milk</option></select>
      <table role=grid><tr aria-selected=true><td>Row</td></tr></table>
      <dialog open aria-label=Sure>Sure?</dialog><section aria-label=Panel>x</section>`);
    for (const selected of ["One", "Red", "css=option:first-child", "css=tr"])
      expect(await state(selected, "selected")).toMatchObject({ holds: true });
    for (const other of ["Two", "Blue", "css=option:last-child"])
      expect(await state(other, "selected")).toMatchObject({ holds: false, actual: "it is not selected" });
    expect(await state("One", "checked")).toMatchObject({ inconclusive: expect.stringContaining("a tab") });
    expect(await state("css=dialog", "open")).toMatchObject({ holds: true });
    expect(await state("css=section", "open")).toMatchObject({ holds: true });
    expect((await see.read("element_checked", { selector: "One" })).inconclusive).toContain("checked");
  });

  it("that a page shows by its style alone cannot be judged", async () => {
    await see.page.setContent(`<div role=tablist><b role=tab class=on>One</b><b role=tab>Two</b></div>
      <nav><a href="#" class=active>Home</a></nav><button class=on>Bold</button><button aria-haspopup=menu>Menu</button>`);
    for (const [selector, word] of Object.entries({
      One: "selected",
      Home: "current",
      Bold: "pressed",
      Menu: "open",
    }))
      expect(await state(selector, word)).toMatchObject({ inconclusive: expect.stringContaining(word) });
  });
});

it("what may be in a frame that did not answer cannot be judged", async () => {
  await see.page.setContent(`<p>Here</p>${"<iframe srcdoc=x></iframe>".repeat(31)}`);
  const inconclusive = [
    "element_exists",
    "element_hidden",
    "element_count",
    "text_visible",
    "element_checked",
  ];
  for (const name of inconclusive) {
    const input =
      name === "text_visible"
        ? { text: "There" }
        : { selector: "There", ...(name === "element_count" && { count: 0 }) };
    expect(await see.read(name, input)).toMatchObject({
      holds: false,
      inconclusive: expect.stringContaining("did not answer"),
    });
  }
});
