import { expect, it } from "vitest";
import { sights } from "../../fixtures/sights.ts";
import { openForTests, signal } from "./seeSession.ts";

const see = openForTests();

const holds = async (name: string, input: object) => (await see.read(name, input)).holds;
const show = async (html: string) => {
  await see.page.goto(`data:text/html;charset=utf-8,${encodeURIComponent(`<!doctype html>${html}`)}`);
};

it.each(sights)("$what", async ({ html, seen, playwright = seen }) => {
  await see.page.setContent(`<!doctype html>${html}`);
  const answers = {
    element: await holds("element_visible", { selector: "#x" }),
    text: await holds("text_visible", { text: "Secret sauce" }),
    playwright: await see.page.locator("#x").isVisible(),
  };
  expect(answers).toEqual({ element: seen, text: seen, playwright });
});

const framed = (style: string, inner = "<button id=x>Secret sauce</button>") =>
  `<iframe style="${style}" srcdoc="${inner.replaceAll('"', "&quot;")}"></iframe>`;

it.each([
  ["plain", framed(""), true],
  ["in a frame that is seen", framed("", framed("")), true],
  ["display none", framed("display:none"), false],
  ["visibility hidden", framed("visibility:hidden"), false],
  ["opacity 0", framed("opacity:0"), false],
  ["no height", framed("height:0;border:0"), false],
  ["moved out", framed("position:absolute;left:-9999px"), false],
  ["in a collapsed box", `<div style="max-height:0;overflow:hidden">${framed("")}</div>`, false],
  ["in a frame that is not seen", framed("opacity:0", framed("")), false],
])("a frame's contents are as visible as the frame: %s", async (_, html, isSeen) => {
  await show(html);
  expect(await holds("text_visible", { text: "Secret sauce" })).toBe(isSeen);
  expect(await holds("element_visible", { selector: "#x" })).toBe(isSeen);
  expect(await holds("element_visible", { selector: "role=button[name='Secret sauce']" })).toBe(isSeen);
  expect(await holds("element_hidden", { selector: "#x" })).toBe(!isSeen);
});

it("a twin in a frame that is not seen is not intended", async () => {
  await show(`<button>Secret sauce</button>${framed("opacity:0")}`);
  expect(await holds("element_visible", { selector: "Secret sauce" })).toBe(true);
  expect(await holds("element_count", { selector: "role=button", count: 1 })).toBe(true);
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
  await show(`<p>${html}</p>`);
  expect(await holds("text_visible", { text })).toBe(isThere);
});

const closed =
  "<x-card></x-card><script>document.querySelector('x-card').attachShadow({ mode: 'closed' }).innerHTML = '<p style=\"height:40px\">Within</p>'</script>";
const card = closed.replace("<x-card>", "<x-card style='display:block'>");
const map = `<img usemap="#m" alt="Plan" width=100 height=100 src="data:image/gif;base64,R0lGODlhAQABAAAAACw="><map name=m><area shape=rect coords="0,0,50,50" href="/kitchen"></map>`;

it.each([
  ["a canvas", "<canvas width=200 height=100></canvas>", ["a canvas"]],
  ["two of them", "<canvas></canvas><canvas></canvas>", ["a canvas (2 times)"]],
  ["a hidden canvas", "<canvas style='display:none'></canvas>", []],
  ["a canvas too small to show a text", "<canvas width=1 height=1></canvas>", []],
  ["an image map", map, ["an image map"]],
  [
    "an embedded document",
    '<embed src="data:application/pdf," width=200 height=100>',
    ["an embedded document"],
  ],
  ["a closed shadow root", card, ["the closed shadow root of <x-card>"]],
  ["an open one", card.replaceAll("closed", "open"), []],
  [
    "a canvas in an open one",
    card.replaceAll("closed", "open").replace("<p ", "<canvas></canvas><p "),
    ["a canvas"],
  ],
  ["none", "<p>Plain</p>", []],
])("a look and a text that is not found say what is shown and not read: %s", async (_, html, unread) => {
  await show(html);
  const { unread: said = [] } = await see.look.dump({ interactiveOnly: true }, signal);
  expect(said).toEqual(unread);
  const { actual } = await see.read("text_visible", { text: "Nowhere" });
  expect(actual).toBe(
    `the text is not shown${unread.length > 0 ? `; shown, but not read: ${unread.join(", ")}` : ""}`,
  );
});

// Every object has members of these names, which a table that is looked up by a page's words must not answer with.
it.each([
  "constructor",
  "valueof",
  "__proto__x",
  "__defineGetter__",
])("a tag, a role and an icon called %s are like any other of which nothing is known", async (name) => {
  await show(`<div id=of></div><p role="${name}">Plain</p><button><i class="fa fa-${name}"></i></button><script>
      const odd = document.createElementNS("http://www.w3.org/1999/xhtml", "${name}");
      odd.textContent = "Odd"; odd.tabIndex = 0; document.getElementById("of").append(odd)</script>`);
  const { elements } = await see.look.dump({ interactiveOnly: false }, signal);
  expect(elements.map(({ role, name, text }) => [role, name || text])).toEqual([
    ["clickable", "Odd"],
    ["paragraph", "Plain"],
    ["button", expect.any(String)],
  ]);
});
