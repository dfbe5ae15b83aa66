import { expect, it } from "vitest";
import { openForTests, type SeeingPage } from "./seeSession.ts";

let see: SeeingPage;
openForTests((opened) => {
  see = opened;
});

const framed = (style: string, inner = "<button id=x>Secret sauce</button>") =>
  `<iframe style="${style}" srcdoc="${inner.replaceAll('"', "&quot;")}"></iframe>`;

async function holds(name: string, input: Record<string, unknown>): Promise<boolean | undefined> {
  const check = see.checks.find((one) => one.name === name);
  return (await check?.read(input, new AbortController().signal))?.holds;
}
const show = async (html: string) => {
  await see.page.goto(`data:text/html,${encodeURIComponent(`<!doctype html>${html}`)}`);
};

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

it("a twin in a frame that is not seen is not meant", async () => {
  await show(`<button>Secret sauce</button>${framed("opacity:0")}`);
  expect(await holds("element_visible", { selector: "Secret sauce" })).toBe(true);
  expect(await holds("element_count", { selector: "role=button", count: 1 })).toBe(true);
});
