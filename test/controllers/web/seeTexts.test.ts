import type { TextNews } from "@labwright/controllers";
import { expect, test } from "vitest";
import { openReader } from "./seeReader.ts";
import { signal } from "./seeSession.ts";

const { see, look } = openReader();

async function texts(): Promise<TextNews> {
  const dump = await see.look.dump({ interactiveOnly: true }, signal);
  if (!dump.texts) throw new Error("The look says nothing of texts.");
  return dump.texts;
}

/** What the second look says of what `script` did after the first. */
async function after(html: string, script: string): Promise<TextNews> {
  await look(html);
  await see.page.evaluate(script);
  return texts();
}

const said = ({ changed }: TextNews) => changed.map(({ element, was }) => [element.text, was]);

test.each([
  [
    "a replaced text",
    "<p id=m>December 2016</p><button>Prev</button>",
    "m.textContent='November 2016'",
    "November 2016",
    "December 2016",
  ],
  ["a changed text node", "<p id=m>1 item</p>", "m.firstChild.data='2 items'", "2 items", "1 item"],
  [
    "a part of a sentence",
    "<p>You have <b id=m>1</b> item in <a href=#>the cart</a>.</p>",
    "m.textContent='2'",
    "You have 2 item in the cart.",
    "You have 1 item in the cart.",
  ],
  [
    "a cell of a table",
    "<table><tr><th>Sum<td id=m>12.50</table>",
    "m.textContent='13.50'",
    "13.50",
    "12.50",
  ],
  [
    "a text that was not displayed",
    "<p id=m style='display:none'>Wrong password</p>",
    "m.style.display=''",
    "Wrong password",
    "",
  ],
  [
    "a text that was not visible",
    "<p id=m style='visibility:hidden'>Wrong password</p>",
    "m.style.visibility=''",
    "Wrong password",
    "",
  ],
  [
    "a text that was transparent",
    "<p id=m style='opacity:0'>Wrong password</p>",
    "m.style.opacity=1",
    "Wrong password",
    "",
  ],
  [
    "a text that was folded",
    "<div id=m style='max-height:0;overflow:hidden'><p>We ship</p></div>",
    "m.style.maxHeight='100px'",
    "We ship",
    "",
  ],
  ["a new text", "<div id=m></div>", "m.innerHTML='<p>Saved</p>'", "Saved", ""],
  [
    "a text beside a field of a form",
    "<form><input name=parentElement><p id=m>1</p></form>",
    "m.textContent='2'",
    "2",
    "1",
  ],
])("%s is told", async (_, html, script, text, was) => {
  expect(said(await after(html, script))).toEqual([[text, was]]);
});

test("a text in a shadow root and one in a frame are reported", async () => {
  const html = `<div id=m></div><iframe srcdoc="<p id=n>one</p><button>B</button>"></iframe>
    <script>m.attachShadow({mode:'open'}).innerHTML='<p>old</p>'</script>`;
  await look(html);
  await see.page.evaluate("m.shadowRoot.querySelector('p').textContent='new'");
  await see.page.frames()[1]?.evaluate("n.textContent='two'");
  expect(said(await texts())).toEqual([
    ["new", "old"],
    ["two", "one"],
  ]);
});

test("a text in a frame that no one sees is not reported", async () => {
  await look(`<button>B</button><iframe style="display:none" srcdoc="<p id=n>one</p>"></iframe>`);
  await texts();
  await see.page.frames()[1]?.evaluate("document.body.append('two')");
  expect(said(await texts())).toEqual([]);
});

test.each([
  ["nothing happens", "1"],
  ["the same text is drawn anew", "m.innerHTML='<p>Saved</p>'"],
  ["a text that nobody can read changes", "h.textContent='c'"],
  ["a text moves", "m.append(h)"],
])("no text is told when %s", async (_, script) => {
  const news = await after("<div id=m><p>Saved</p></div><p id=h style='color:transparent'>b</p>", script);
  expect(news).toMatchObject({ changed: [], more: 0, passed: [] });
});

test("a text that is gone is reported", async () => {
  expect(await after("<p id=m>Loading</p>", "m.remove()")).toMatchObject({ changed: [], gone: ["Loading"] });
});

test.each([
  [
    "added and removed",
    "const t=document.createElement('div');t.textContent='Saved';document.body.append(t);later(()=>t.remove())",
  ],
  ["written and wiped", "m.textContent='Saved';later(()=>{m.textContent=''})"],
  ["shown and hidden", "h.hidden=false;later(()=>{h.hidden=true})"],
  [
    "faded in and out",
    "h.hidden=false;h.animate([{opacity:0},{opacity:1}],100);later(()=>{h.style.opacity=0})",
  ],
  [
    "a status",
    "const t=document.createElement('div');t.role='status';t.innerHTML='<span>Saved</span>';document.body.append(t);later(()=>t.remove())",
  ],
])("a message that was %s is told", async (_, script) => {
  const html = "<p id=m></p><p id=h hidden>Saved</p><button>B</button>";
  const whole = `new Promise((done)=>{const later=(f)=>setTimeout(()=>{f();done()},300);${script}})`;
  expect((await after(html, whole)).passed).toEqual(["Saved"]);
  expect((await texts()).passed).toEqual([]);
});

test("what a text said on the way to its last words is not reported as a message", async () => {
  const script = `new Promise((done)=>{m.textContent='Saving';setTimeout(()=>{m.textContent='Saved';done()},100)})`;
  const news = await after("<p id=m></p>", script);
  expect([said(news), news.passed]).toEqual([[["Saved", ""]], []]);
});

test("a page without elements gives its first texts", async () => {
  await look("<p>It works</p><p style='opacity:0'>no</p><div>Build 12</div>");
  expect((await texts()).first.map(({ text }) => text)).toEqual(["It works", "Build 12"]);
});

test.each([
  ["Prev", "December 2016", "Next"],
  ["‹", "May", "›"],
  ["-", "2", "+"],
])("the text between %s and its other is in the look", async (back, text, on) => {
  const html = `<p>Pick one</p><div><button>${back}</button><span id=m>${text}</span><button>${on}</button></div><p>Footer</p>`;
  expect((await look(html)).map((one) => one.name || one.text)).toEqual([back, text, on]);
  await see.page.evaluate("m.textContent='other'");
  expect((await texts()).changed).toEqual([]);
});

test("a text between other buttons is not in the snapshot", async () => {
  expect(await look("<button>Save</button><p>or</p><button>Cancel</button>")).toHaveLength(2);
});

test("a snapshot that did not reach the end of the page reports no text as gone", async () => {
  const rows = "<p><button>Buy</button> Number $</p>".repeat(4_010);
  let number = 0;
  await look(`<body><div id=top></div>${rows.replaceAll("$", () => `${number++}`)}`);
  await see.page.evaluate("document.querySelector('p').before(document.querySelector('p').cloneNode(true))");
  const { gone, changed } = await texts();
  expect([gone, changed]).toEqual([[], []]);
});
