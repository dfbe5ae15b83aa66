import type { Selector } from "@labwright/controllers";
import { describe, expect, test } from "vitest";
import { locate } from "#controllers/web/acting/locate.ts";
import { parseForPage } from "#controllers/web/page/selectors.ts";
import { openForTests } from "./seeSession.ts";

const signal = new AbortController().signal;

test("test ids use the attribute of the user interface and are quoted for CSS", () => {
  expect(parseForPage('testid=a"b', "data-qa")).toEqual({ kind: "css", css: '[data-qa="a\\"b"]' });
});

test("a browser reads every kind of selector but the native one, and says so", () => {
  expect(() => parseForPage("native=x", "data-qa")).toThrow(
    /no selectors of kind native; it has testid, role, label, placeholder, id, text, css, xpath\. Use testid=/,
  );
});

describe("ranked selectors", () => {
  const see = openForTests();

  async function rank(html: string, name: string): Promise<readonly Selector[]> {
    await see.page.setContent(html);
    const { elements } = await see.look.dump({ interactiveOnly: false }, signal);
    const ref = elements.find((one) => one.name === name || one.text === name)?.ref ?? "none";
    const [selectors = []] = await see.look.selectors([ref], signal);
    return selectors;
  }
  const kinds = (selectors: readonly Selector[]) => selectors.map(({ kind }) => kind);

  test("a test id comes first, then role and name, label, placeholder, id, text, css and xpath", async () => {
    const field = await rank(`<label>Name <input data-testid=t id=who placeholder=You></label>`, "Name");
    expect(kinds(field)).toEqual(["testid", "role", "label", "placeholder", "id", "css", "xpath"]);
    const button = await rank(`<button id=go>Go on</button>`, "Go on");
    expect(button[0]).toEqual({
      kind: "role",
      selector: 'role=button[name="Go on"]',
      unique: true,
      score: 0.9,
    });
    expect(kinds(button)).toEqual(["role", "id", "text", "css", "xpath"]);
  });

  test.each([
    "ember123",
    ":r1:",
    "input-4711",
    "8f14e45f-ceea-467a",
    "mat-input-0",
    "x9f3k2a1",
  ])("a generated id falls behind text: %s", async (id) => {
    const selectors = await rank(`<p id="${id}">Hello</p>`, "Hello");
    expect(kinds(selectors).indexOf("id")).toBeGreaterThan(kinds(selectors).indexOf("text"));
  });

  test.each([
    "Buy for $5.99",
    "Inbox (3)",
    "Due 2024-05-01",
    "Starts 12:30",
  ])("numbers, prices, times and dates lower the score of a name: %s", async (name) => {
    const selectors = await rank(`<button id=buy>${name}</button>`, name);
    const score = selectors.find(({ kind }) => kind === "role")?.score ?? 1;
    expect(score).toBeLessThanOrEqual(0.7);
    expect(selectors[0]?.kind === "id" || score === 0.7).toBe(true);
  });

  test("what is not unique says so and comes after what is, and every unique one finds its element again", async () => {
    const html = `<ul><li>A <button>Delete</button></li><li id=second>B <button class=del>Delete</button></li></ul>`;
    await see.page.setContent(html);
    const { elements } = await see.look.dump({ interactiveOnly: true }, signal);
    const second = elements[1]?.ref ?? "";
    const [selectors = []] = await see.look.selectors([second], signal);
    expect(selectors.find(({ kind }) => kind === "role")).toMatchObject({ unique: false });
    expect(selectors[0]).toMatchObject({ kind: "css", selector: "css=#second > button", unique: true });
    for (const { selector } of selectors.filter(({ unique }) => unique)) {
      const found = await locate(see.session, { selector }, signal, 0);
      expect(await found.getAttribute("class")).toBe("del");
    }
  });

  test("names that differ in case are each unique, and each finds its own", async () => {
    await see.page.setContent(`<button id=a>Save</button><button id=b>SAVE</button>`);
    const { elements } = await see.look.dump({ interactiveOnly: true }, signal);
    const ranked = await see.look.selectors(
      elements.map(({ ref }) => ref),
      signal,
    );
    for (const [at, selectors] of ranked.entries()) {
      for (const { selector } of selectors.filter(({ kind, unique }) => unique && /role|text/.test(kind))) {
        expect(await (await locate(see.session, { selector }, signal, 0)).getAttribute("id")).toBe("ab"[at]);
      }
      expect(selectors[0]).toMatchObject({ kind: "role", unique: true });
    }
  });

  test("a twin in another frame makes a selector not unique", async () => {
    await see.page.setContent(`<button>Save</button><iframe srcdoc="<button>Save</button>"></iframe>`);
    await expect
      .poll(async () => (await see.look.dump({ interactiveOnly: true }, signal)).elements.length)
      .toBe(3);
    const { elements } = await see.look.dump({ interactiveOnly: true }, signal);
    const [selectors = []] = await see.look.selectors([elements[0]?.ref ?? ""], signal);
    expect(selectors.find(({ kind }) => kind === "role")).toMatchObject({ unique: false });
  });

  test("elements in shadow roots get css that reaches them", async () => {
    await see.page.setContent(`<x-row></x-row><x-row id=two></x-row><script>customElements.define("x-row",class extends HTMLElement{
      constructor(){super();this.attachShadow({mode:"open"}).innerHTML="<i></i><button>Go</button>"}})</script>`);
    const { elements } = await see.look.dump({ interactiveOnly: true }, signal);
    const [selectors = []] = await see.look.selectors([elements[1]?.ref ?? ""], signal);
    const css = selectors.find(({ kind }) => kind === "css");
    expect(css).toMatchObject({ selector: "css=#two button", unique: true });
    await (await locate(see.session, { selector: css?.selector }, signal, 0)).focus();
    const host = await see.page.evaluate("document.activeElement.id");
    expect(host).toBe("two");
  });

  test("answers come in the order of the refs, empty for what is gone", async () => {
    await see.page.setContent(`<button>A</button><button id=b>B</button>`);
    const { elements } = await see.look.dump({ interactiveOnly: true }, signal);
    await see.page.evaluate("document.getElementById('b').remove()");
    const refs = elements.map(({ ref }) => ref).toReversed();
    const answers = await see.look.selectors(refs, signal);
    expect(answers.map((one) => one.length > 0)).toEqual([false, true]);
  });
});
