import { describe, expect, test } from "vitest";
import type { Selector } from "../../../controllers/src/contract.ts";
import { locate } from "../../../controllers/src/web/locate.ts";
import { formatCandidate, parseSelector } from "../../../controllers/src/web/selectors.ts";
import { openForTests, type SeeingPage } from "./seeSession.ts";

const signal = new AbortController().signal;

function thrownBy(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

describe("the grammar", () => {
  test("a bare string is a name, a label or a text, also when it looks like nothing else", () => {
    expect(parseSelector("Total = 5", "data-testid")).toEqual({
      kind: "any",
      text: { match: "same", text: "Total = 5" },
    });
    expect(parseSelector('"text=raw"', "data-testid")).toEqual({
      kind: "any",
      text: { match: "same", text: "text=raw" },
    });
  });

  test("`==` asks for a text as it stands", () => {
    const text = { match: "exact", text: "Save  all" };
    expect(parseSelector("text==Save  all", "data-testid")).toEqual({ kind: "text", text });
    expect(parseSelector('role=button[name=="Save  all"]', "data-testid")).toEqual({
      kind: "role",
      role: "button",
      name: text,
    });
  });

  test.each([
    ["#login", { kind: "css", css: "#login" }],
    [".card > a", { kind: "css", css: ".card > a" }],
    ["//p[@id='note']", { kind: "xpath", xpath: "//p[@id='note']" }],
    ["(//p)[1]", { kind: "xpath", xpath: "(//p)[1]" }],
    ["css=#login", { kind: "css", css: "#login" }],
    ["#1 seller", { kind: "any", text: { match: "same", text: "#1 seller" } }],
    ["... more", { kind: "any", text: { match: "same", text: "... more" } }],
    ['"#general"', { kind: "any", text: { match: "same", text: "#general" } }],
    ["/usr/bin", { kind: "any", text: { match: "same", text: "/usr/bin" } }],
  ])("%s is read as what it looks like", (selector, parsed) => {
    expect(parseSelector(selector, "data-testid")).toEqual(parsed);
  });

  test.each([
    "css=a > b",
    "css=a>b+c~d, e",
    "css=:scope > a",
    "css=> a",
    'css=input[type="text"]:not([disabled])',
    "css=li:nth-child(2n + 1)::before",
    "css=div.a\\:b#c\\.d",
    'css=article:has-text("a > b, (c")',
    "css=*|a",
    "css=x-row >> button",
    "css=[data-x='a]b']",
    "css=.名前",
    "css=&.x",
    "xpath=//a[contains(@href, 'x') and position() < 3]/..",
    "xpath=/html/body//*[local-name()='svg'][2]",
    "xpath=//a | //b",
    "xpath=count(//a) > 2",
    "xpath=//*[@id='a']/following-sibling::div[1]//text()",
    "xpath=(//a)[last() - 1]",
    "xpath=/",
    "xpath=//div[not(@class)]/*",
    "xpath=//a[. = 'x']",
    "xpath=.//a[2 * 3 = 6]",
    "xpath=//svg:path",
    "xpath=string(//a/@href)",
    "xpath=//a[normalize-space()='and']/b[@or]",
  ])("what CSS and XPath allow is let through: %s", (selector) => {
    expect(() => parseSelector(selector, "data-testid")).not.toThrow();
  });

  test.each([
    ["css=div[", 8],
    ["css=p >", 8],
    ["css=a,,b", 7],
    ["css=a > > b", 9],
    ["css=.", 5],
    ["css=a:", 6],
    ["css=a..b", 6],
    ["css=a]", 6],
    ["css=a(b", 6],
    ['css=[x="y]', 8],
    ["css=a, ", 7],
    ["css=a {b}", 7],
    ["#a >", 5],
    ["//a[", 4],
    ["xpath=//[", 9],
    ["xpath=//a[@]", 11],
    ["xpath=//a]", 10],
    ["xpath=//a b", 11],
    ["xpath=//a[text()='x]", 18],
    ["xpath=//a[1 and]", 16],
    ["xpath=a//", 10],
    ["xpath=///a", 9],
    ["testid~=x", 7],
    ["text=/(/", 7],
    ['role=button[title="x"]', 13],
    ["  css=div[", 10],
  ])("what does not parse says where: %s at %d", (selector, position) => {
    const failure = thrownBy(() => parseSelector(selector, "data-testid"));
    expect(failure).toMatchObject({ code: "INVALID_SELECTOR", details: { position } });
    expect(String(failure)).toContain(`at character ${position}`);
  });

  test("test ids use the attribute of the user interface and are quoted for CSS", () => {
    expect(parseSelector('testid=a"b', "data-qa")).toEqual({ kind: "css", css: '[data-qa="a\\"b"]' });
  });

  test.each([
    "plain",
    'with "quotes"',
    "back\\slash",
    "/looks/like/",
    " blanks ",
    "a]b",
    "price=5",
    "=5",
    "'single'",
  ])("what is written can be read back: %s", (value) => {
    const text = { match: "same", text: value };
    const written = (kind: "text" | "label" | "role") =>
      parseSelector(formatCandidate({ kind, value, role: "button", count: 1, score: 1 }), "data-testid");
    expect(written("text")).toEqual({ kind: "text", text });
    expect(written("label")).toEqual({ kind: "label", text });
    expect(written("role")).toEqual({ kind: "role", role: "button", name: text });
  });
});

describe("ranked selectors", () => {
  let see: SeeingPage;
  openForTests((page) => {
    see = page;
  });

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
