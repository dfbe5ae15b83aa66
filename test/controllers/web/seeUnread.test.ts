import { expect, it } from "vitest";
import { openForTests, type SeeingPage } from "./seeSession.ts";

let see: SeeingPage;
openForTests((opened) => {
  see = opened;
});

const signal = new AbortController().signal;
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
  await see.page.goto(`data:text/html,${encodeURIComponent(`<!doctype html>${html}`)}`);
  const { unread: said = [] } = await see.look.dump({ interactiveOnly: true }, signal);
  expect(said).toEqual(unread);
  const text = see.checks.find(({ name }) => name === "text_visible");
  const reading = await text?.read({ text: "Nowhere", match: "words" }, signal);
  expect(reading?.actual).toBe(
    `the text is not shown${unread.length > 0 ? `; shown, but not read: ${unread.join(", ")}` : ""}`,
  );
});
