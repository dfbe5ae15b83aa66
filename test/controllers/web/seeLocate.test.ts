import { DeviceError } from "@labwright/controllers";
import { expect, test } from "vitest";
import { z } from "zod";
import { locate } from "#controllers/web/acting/locate.ts";
import { openForTests, openSeeing, signal } from "./seeSession.ts";

const see = openForTests();

async function idOf(selector: string, timeoutMs = 0): Promise<string | null> {
  return (await locate(see.session, { selector }, signal, timeoutMs)).getAttribute("id");
}

async function failureOf(selector: string, timeoutMs = 0): Promise<DeviceError> {
  const error = await locate(see.session, { selector }, signal, timeoutMs).catch((thrown: unknown) => thrown);
  if (error instanceof DeviceError) return error;
  throw new Error(`${selector} did not fail as it should: ${error}`);
}

const form = `
  <form><label for=mail>E-Mail  address</label><input id=mail placeholder="you@example.org">
  <label>Colour <select id=colour><option>Red</option></select></label>
  <button id=save data-testid="save-form" type=button><span>Save</span></button>
  <button id=saveas type=button>Save as…</button>
  <input type=submit id=send value="Send it"></form>
  <p id=note>Press <b>save</b> to go on</p><p id=quote>say "hi" \\ there</p><p id=path>/usr/</p>
  <div id=fake style="cursor:pointer">Custom</div>`;

test.each([
  ["Save", "save"],
  ["  sAvE ", "save"],
  ["you@example.org", "mail"],
  ["e-mail address", "mail"],
  ["Colour", "colour"],
  ["Press save to go on", "note"],
  ["Send it", "send"],
  ["Custom", "fake"],
  ["testid=save-form", "save"],
  ['role=button[name="Save"]', "save"],
  ['role=button[name="sAve  as…"]', "saveas"],
  ['role=button[name~="as…"]', "saveas"],
  ["role=button[name=/^send/i]", "send"],
  ["role=combobox", "colour"],
  ["role=clickable", "fake"],
  ["label=E-mail address", "mail"],
  ["label~=mail", "mail"],
  ["placeholder~=example", "mail"],
  ["id=note", "note"],
  ["text~=go on", "note"],
  ["text=/press .* on$/i", "note"],
  ['text="say \\"hi\\" \\\\ there"', "quote"],
  ['text="/usr/"', "path"],
  ["css=p#note", "note"],
  ["xpath=//p[@id='note']", "note"],
  ["#note", "note"],
  ["//p[@id='note']", "note"],
  ["text==/usr/", "path"],
  ['role=button[name=="Save"]', "save"],
])("a selector finds the one element that it means: %s", async (selector, id) => {
  await see.page.setContent(form);
  expect(await idOf(selector)).toBe(id);
});

test("text finds the smallest element that holds it all", async () => {
  await see.page.setContent("<div><button><span>Save</span></button></div>");
  expect(
    await (await locate(see.session, { selector: "text=Save" }, signal)).evaluate((one) => one.localName),
  ).toBe("span");
});

test("a bare name prefers what can be pressed over plain text of the same words", async () => {
  await see.page.setContent(`<h2 id=h>Filters</h2><p>Filters</p><button id=b>Filters</button>`);
  expect(await idOf("Filters")).toBe("b");
});

test("of several elements with one name, the one of exactly that case is wanted", async () => {
  await see.page.setContent(
    `<button id=a>Save</button><button id=b>SAVE</button><p id=c>Total</p><p id=d>total</p>
     <iframe srcdoc="<button id=e>save</button>"></iframe>`,
  );
  await see.page.frameLocator("iframe").locator("button").waitFor();
  for (const [selector, id] of [
    ["Save", "a"],
    ["SAVE", "b"],
    ["save", "e"],
    ["role=button[name=SAVE]", "b"],
    ["text=total", "d"],
  ] as const)
    expect([selector, await idOf(selector)]).toEqual([selector, id]);
  const none = await failureOf("sAVE");
  expect([none.code, none.message]).toEqual(["ELEMENT_AMBIGUOUS", expect.stringMatching(/^3 elements/)]);
});

test("`==` takes a text as it stands", async () => {
  await see.page.setContent(
    `<pre id=a>a  b</pre><p id=b>A b</p><label>E-Mail <input id=c placeholder="Your  name"></label>`,
  );
  expect(await idOf("text==a  b")).toBe("a");
  expect(await idOf("text==A b")).toBe("b");
  expect(await idOf("placeholder==Your  name")).toBe("c");
  expect(await idOf("placeholder=your name")).toBe("c");
  for (const selector of ["text==a b", "label==e-mail", "placeholder==Your name"])
    expect((await failureOf(selector)).code).toBe("ELEMENT_NOT_FOUND");
});

test("hidden twins are passed over", async () => {
  await see.page.setContent(
    `<div style="display:none"><button class=x id=h>Buy</button></div><button class=x id=v>Buy</button>`,
  );
  expect(await idOf("Buy")).toBe("v");
  expect(await idOf("css=.x")).toBe("v");
});

test("an element that appears late is waited for", async () => {
  await see.page.setContent(
    `<script>setTimeout(()=>document.body.innerHTML="<button id=late>Late</button>",400)</script>`,
  );
  expect(await idOf("Late", 5_000)).toBe("late");
});

test("elements in frames and shadow roots are found without saying where they are", async () => {
  await see.page.setContent(`<x-a></x-a><iframe srcdoc="<iframe srcdoc='<button id=deep>Deep</button>'></iframe>"></iframe>
    <script>customElements.define("x-a",class extends HTMLElement{constructor(){super();this.attachShadow({mode:"open"}).innerHTML="<button id=in>Shadow</button>"}})</script>`);
  expect(await idOf("Deep", 5_000)).toBe("deep");
  expect(await idOf("css=#deep", 5_000)).toBe("deep");
  expect(await idOf("Shadow")).toBe("in");
  expect(await idOf("css=x-a button")).toBe("in");
});

test("several matches are an error that names the ref and the sign of each", async () => {
  await see.page.setContent(`<table><tr><td>Ada<td><button>Delete</button><tr><td>Bach<td><button>Delete</button></table>
    <iframe srcdoc="<button id=framed>Delete</button>"></iframe>`);
  await expect.poll(async () => (await failureOf("Delete")).message).toMatch(/^3 elements match "Delete"/);
  const error = await failureOf("Delete");
  expect(error.code).toBe("ELEMENT_AMBIGUOUS");
  const candidates = z.array(z.string()).parse(error.details.candidates);
  expect(candidates.map((one) => one.replace(/^\S+ /, ""))).toEqual([
    'button "Delete" by "Ada"',
    'button "Delete" by "Bach"',
    expect.stringMatching(/^button "Delete"/),
  ]);
  const refs = candidates.map((one) => one.split(" ")[0] ?? "");
  const rows = await Promise.all(
    refs.map(async (ref) =>
      (await locate(see.session, { ref }, signal, 0)).locator("xpath=../..").innerText(),
    ),
  );
  expect(rows.map((row) => row.split(/\s/)[0])).toEqual(["Ada", "Bach", "Delete"]);
  const { elements } = await see.look.dump({ interactiveOnly: true }, signal);
  expect(elements.filter(({ name }) => name === "Delete").map(({ ref }) => ref)).toEqual(refs);
});

test("what distinguishes several matches does not depend on an earlier snapshot", async () => {
  await see.page.setContent(`<table><tr><td>Ada<td><button>Delete</button>
    <tr><td><a href="#1">Bach</a><td><button>Delete</button></table><a href="#2" id=twin>Bach</a>`);
  await see.look.dump({ interactiveOnly: true }, signal);
  await see.page.evaluate("twin.remove()");
  expect((await failureOf("Delete")).details.candidates).toEqual([
    expect.stringMatching(/by "Ada"$/),
    expect.stringMatching(/by "Bach"$/),
  ]);
});

test("a frame's element gets no ref of the page before", async () => {
  const fresh = await openSeeing(see.browser);
  const open = (html: string) => fresh.page.goto(`data:text/html,${encodeURIComponent(html)}`);
  await open("<button>Old</button>");
  const { elements } = await fresh.look.dump({ interactiveOnly: true }, signal);
  await open(`<iframe srcdoc="<button>New</button>"></iframe>`);
  await fresh.page.frameLocator("iframe").locator("button").waitFor();
  await locate(fresh.session, { selector: "New" }, signal);
  const old = locate(fresh.session, { ref: elements[0]?.ref }, signal);
  await expect(old).rejects.toMatchObject({ code: "STALE_REF" });
  await fresh.close();
});

test("nothing found names the nearest, and how CSS is written when it looks like CSS", async () => {
  await see.page.setContent(form);
  const error = await failureOf("Sav", 50);
  expect(error.code).toBe("ELEMENT_NOT_FOUND");
  expect(error.message).toContain('role=button[name="Save"]');
  expect(z.array(z.string()).parse(error.details.nearest)[0]).toBe('role=button[name="Save"]');
  expect((await failureOf("[data-x]")).message).toContain("css=[data-x]");
  expect((await failureOf("#general")).message).toContain('in quotes, "#general"');
  expect((await failureOf("qqqqqq")).message).toContain("dump_ui_elements");
});

test.each([
  "",
  "role=",
  'role=button[title="x"]',
  "text=/(/",
  "css=div[",
  "css=p >",
  "xpath=//[",
  "testid~=x",
])("what cannot be read is an error that gives the grammar: %s", async (selector) => {
  await see.page.setContent(form);
  const error = await failureOf(selector);
  expect(error.code).toBe("INVALID_SELECTOR");
  expect(error.message).toContain('role=button[name="Save"]');
});

test("neither or both of ref and selector is refused", async () => {
  await expect(locate(see.session, {}, signal)).rejects.toMatchObject({ code: "INVALID_PARAMS" });
  await expect(locate(see.session, { ref: "e1", selector: "x" }, signal)).rejects.toMatchObject({
    code: "INVALID_PARAMS",
  });
});

test("waiting ends with its signal", async () => {
  await see.page.setContent(form);
  const stop = new AbortController();
  const waiting = locate(see.session, { selector: "Never" }, stop.signal, 60_000);
  stop.abort(new Error("stopped"));
  await expect(waiting).rejects.toThrow(/stopped|aborted/);
});
