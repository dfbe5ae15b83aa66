import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { numbersIn } from "#controllers/web/checks/numbers.ts";
import { serve } from "../../fixtures/loopback.ts";
import { openForTests } from "./seeSession.ts";

const see = openForTests();

type Row = [name: string, input: object, holds: boolean, actual: string | RegExp];
const judges = async (name: string, input: object, holds: boolean, actual: string | RegExp) => {
  const reading = await see.read(name, input);
  expect(reading).toMatchObject({
    holds,
    actual: actual instanceof RegExp ? expect.stringMatching(actual) : actual,
  });
};

describe("what an element is", () => {
  const page = `<button id=pay class="big red" style="color: rgb(255, 0, 0)" title="Pays at once">Pay</button><button disabled>Locked</button>
    <label>Name <input id=name value=Ada></label><label>Fixed <input id=fixed readonly value=x></label><label>Blank <input id=blank></label>
    <label>Mail <input id=mail type=email required></label><div id=rich contenteditable> </div><p id=empty></p>
    <input id=age aria-label=Age aria-invalid=true aria-errormessage=err aria-describedby="h1 h2"><span id=h1>In years.</span><span id=h2>At least 18.</span><span id=err>Too young</span>
    <ul><li>Tea</li><li>Bread</li><li>Milk</li></ul>`;

  it.each<Row>([
    ["element_disabled", { selector: "Locked" }, true, "it is disabled"],
    ["element_disabled", { selector: "Pay" }, false, "it is enabled"],
    ["element_disabled", { selector: "id=none" }, false, "nothing matches"],
    ["element_class", { selector: "Pay", classes: "red" }, true, 'it is "big red"'],
    ["element_class", { selector: "Pay", classes: "red  big" }, true, 'it is "big red"'],
    ["element_class", { selector: "Pay", classes: "re" }, false, 'it is "big red"'],
    [
      "element_css",
      { selector: "Pay", property: "color", value: "rgb(255, 0, 0)" },
      true,
      'it is "rgb(255, 0, 0)"',
    ],
    [
      "element_css",
      { selector: "Pay", property: "color", value: "rgb(0, 0, 0)" },
      false,
      'it is "rgb(255, 0, 0)"',
    ],
    ["element_editable", { selector: "Name" }, true, "it is editable"],
    ["element_editable", { selector: "css=#rich" }, true, "it is editable"],
    ["element_editable", { selector: "Fixed" }, false, "it is readonly"],
    ["element_editable", { selector: "Pay" }, false, /^it is a button, and nothing says/],
    ["element_empty", { selector: "Blank" }, true, 'it is ""'],
    ["element_empty", { selector: "css=#empty" }, true, 'it is ""'],
    ["element_empty", { selector: "Name" }, false, 'it is "Ada"'],
    ["element_name", { selector: "css=#name", name: "name" }, true, 'name is "Name"'],
    ["element_name", { selector: "css=#name", name: "Surname" }, false, 'name is "Name"'],
    ["element_role", { selector: "css=#pay", role: "button" }, true, 'role is "button"'],
    ["element_role", { selector: "css=#pay", role: "link" }, false, 'role is "button"'],
    [
      "element_description",
      { selector: "Age", text: "In years. At least 18." },
      true,
      'it is "In years. At least 18."',
    ],
    [
      "element_description",
      { selector: "Pay", text: "at once", match: "contains" },
      true,
      'it is "Pays at once"',
    ],
    ["element_error", { selector: "Age", text: "too young" }, true, 'it is "Too young"'],
    ["element_error", { selector: "Mail" }, true, /fill out/i],
    ["element_error", { selector: "Name" }, false, 'it is ""'],
    ["element_texts", { selector: "css=li", texts: ["tea", "bread", "milk"] }, true, "they are 3"],
    [
      "element_texts",
      { selector: "css=li", texts: ["Tea", "Milk", "Bread"] },
      false,
      'they are 3, number 2 "Bread"',
    ],
    ["element_texts", { selector: "css=li", texts: ["Tea", "Bread"] }, false, 'they are 3, number 3 "Milk"'],
    ["element_texts", { selector: "css=ol", texts: ["Tea"] }, false, "nothing matches"],
    ["element_css", { selector: "css=li", property: "color", value: "x" }, false, /^3 elements match/],
    ["element_class", { selector: "Payy", classes: "x" }, false, "nothing matches"],
  ])("%s %j reads %s", async (name, input, holds, actual) => {
    await see.page.setContent(page);
    await judges(name, input, holds, actual);
  });

  it.each([
    ["colr"],
    ["backgroundColor"],
  ])("element_css refuses the unknown property %s", async (property) => {
    await see.page.setContent(page);
    for (const value of ["", "red"])
      await expect(see.read("element_css", { selector: "Pay", property, value })).rejects.toMatchObject({
        code: "INVALID_PARAMS",
        message: expect.stringContaining(`"${property}"`),
      });
  });

  it.each([
    "--none",
    "scroll-timeline-name",
    "-webkit-line-clamp",
    "COLOR",
  ])("element_css knows %s", async (property) => {
    await see.page.setContent(page);
    const { holds } = await see.read("element_css", { selector: "Pay", property, value: "x" });
    expect(holds).toBe(false);
  });

  it("names the nearest where nothing matches", async () => {
    await see.page.setContent(page);
    const { nearest } = await see.read("element_class", { selector: "Payy", classes: "x" });
    expect(nearest?.[0]).toContain("Pay");
  });
});

describe("value_between", () => {
  it.each<[text: string, decimal: "." | "," | undefined, numbers: number[]]>([
    ["Total: 1,234.50 EUR", undefined, [1234.5]],
    ["1.234,50 €", undefined, [1234.5]],
    ["12,5 %", undefined, [12.5]],
    ["1.234", undefined, [1.234]],
    ["1.234", ",", [1234]],
    ["1,234", undefined, [1234]],
    ["1,234", ",", [1.234]],
    ["1 234 567", undefined, [1234567]],
    ["−5", undefined, [-5]],
    ["-$3.20", undefined, [-3.2]],
    ["3 of 7", undefined, [3, 7]],
    ["1.234.567", undefined, [1234567]],
    ["none", undefined, []],
    ["It costs 5.", undefined, [5]],
  ])("reads the numbers of %j", (text, decimal, numbers) => {
    expect(numbersIn(text, decimal)).toEqual(numbers);
  });

  it.each<Row>([
    ["value_between", { selector: "css=p", min: 12, max: 13 }, true, 'it is 12.5, in "Total: 12.50 EUR"'],
    ["value_between", { selector: "css=p", min: 13 }, false, 'it is 12.5, in "Total: 12.50 EUR"'],
    ["value_between", { selector: "Age", max: 42 }, true, 'it is 42, in "42"'],
    ["value_between", { selector: "css=b", max: 42 }, false, 'there is no number in "none"'],
    ["value_between", { selector: "css=i", max: 42 }, false, 'there are 2 numbers in "3 of 7"'],
    ["value_between", { selector: "css=u", max: 42 }, false, "nothing matches"],
  ])("%s %j reads %s", async (name, input, holds, actual) => {
    await see.page.setContent(
      `<p>Total: 12.50 EUR</p><label>Age <input type=number value=42></label><b>none</b><i>3 of 7</i>`,
    );
    await judges(name, input, holds, actual);
  });
});

describe("table_cell", () => {
  const page = `<table id=t><tr><th>Item<th>Price</tr><tr><td>Tea<td>1.00</tr><tr><td>Bread<td>2.50</tr><tr><td>Tea<td>4711</tr></table><p>x</p>`;
  const cell = { selector: "css=#t", column: "price" };

  it.each<Row>([
    ["table_cell", { ...cell, row: "Bread", text: "2.50" }, true, 'it is "2.50"'],
    ["table_cell", { ...cell, row: 1, column: 2, text: "1.00" }, true, 'it is "1.00"'],
    ["table_cell", { ...cell, row: "Bread", text: "3.00" }, false, 'it is "2.50"'],
    ["table_cell", { ...cell, row: "Milk", text: "x" }, false, "there is no such row among 3"],
    ["table_cell", { ...cell, row: 9, text: "x" }, false, "there is no such row among 3"],
    ["table_cell", { ...cell, row: 4711, text: "4711" }, true, 'it is "4711"'],
    ["table_cell", { ...cell, row: "Tea", text: "x" }, false, /^2 rows have such a cell/],
    ["table_cell", { ...cell, row: 1, column: "Cost", text: "x" }, false, "there is no such column"],
    ["table_cell", { ...cell, selector: "css=#none", row: 1, text: "x" }, false, "nothing matches"],
  ])("%s %j reads %s", async (name, input, holds, actual) => {
    await see.page.setContent(page);
    await judges(name, input, holds, actual);
  });

  it("cannot be judged where there is not a table", async () => {
    await see.page.setContent(page);
    expect(await see.read("table_cell", { ...cell, selector: "css=p", row: 1, text: "x" })).toMatchObject({
      inconclusive: expect.stringContaining("is not a table"),
    });
  });
});

describe("layout", () => {
  const page = `<style>body{margin:0} .b{position:absolute;width:100px;height:50px}</style>
    <div class=b id=a style="left:10px;top:10px">a</div><div class=b id=b style="left:200px;top:10px">b</div>
    <div class=b id=c style="left:10px;top:200px">c</div><div class=b id=d style="left:10px;top:695px">d</div>
    <div id=box style="position:absolute;left:400px;top:100px;width:100px;height:100px;overflow:auto"><p id=cut style="margin:150px 0 0;height:20px">cut</p></div>
    <button class=b id=under style="left:600px;top:10px"><b id=inner>Under</b></button><div class=b id=veil style="left:650px;top:10px">veil</div>
    <div class=b id=big style="left:0;top:0;width:150px;height:150px;pointer-events:none"></div><div id=hid style="display:none">x</div>
    <iframe id=f style="position:absolute;left:700px;top:300px" srcdoc="<button>Framed</button>"></iframe><div id=over class=b style="left:700px;top:300px;display:none;width:300px;height:300px">over</div>`;
  const at = (id: string, is: string, of?: string) => ({
    selector: `css=#${id}`,
    is,
    ...(of && { of_selector: `css=#${of}` }),
  });

  it.each<Row>([
    ["layout", at("a", "left_of", "b"), true, /#a" is at 10,10 100x50/],
    ["layout", at("b", "left_of", "a"), false, /^290 pixels amiss/],
    ["layout", at("b", "right_of", "a"), true, /./],
    ["layout", at("a", "above", "c"), true, /./],
    ["layout", at("c", "below", "a"), true, /./],
    ["layout", at("c", "above", "a"), false, /pixels amiss/],
    ["layout", at("a", "aligned_top", "b"), true, /./],
    ["layout", at("a", "aligned_left", "c"), true, /./],
    ["layout", at("a", "aligned_left", "b"), false, /^190 pixels amiss/],
    ["layout", { ...at("a", "aligned_left", "b"), tolerance: 190 }, true, /./],
    ["layout", at("a", "centered_down", "b"), true, /./],
    ["layout", at("a", "inside", "big"), true, /./],
    ["layout", at("c", "inside", "big"), false, /^100 pixels amiss/],
    ["layout", at("a", "in_window"), true, "100 % of it is in the window"],
    ["layout", at("d", "in_window"), false, "50 % of it is in the window"],
    ["layout", { ...at("d", "in_window"), part: 0.4 }, true, "50 % of it is in the window"],
    ["layout", at("cut", "in_window"), false, "0 % of it is in the window"],
    ["layout", at("a", "not_covered"), true, "nothing covers it"],
    ["layout", at("under", "not_covered"), false, "it is covered by div#veil.b"],
    ["layout", at("d", "not_covered"), false, /outside of the window/],
    ["layout", at("hid", "not_covered"), false, "it is hidden"],
    ["layout", at("hid", "above", "a"), false, '"css=#hid" is hidden'],
    ["layout", at("none", "above", "a"), false, "nothing matches"],
    ["layout", { selector: "Framed", is: "not_covered" }, true, "nothing covers it"],
  ])("%s %j reads %s", async (name, input, holds, actual) => {
    await see.page.setContent(page);
    await see.page.frameLocator("iframe").locator("button").waitFor();
    await judges(name, input, holds, actual);
  });

  it("sees what covers a frame", async () => {
    await see.page.setContent(page);
    await see.page.frameLocator("iframe").locator("button").waitFor();
    await see.page.evaluate("over.style.display = 'block'");
    await judges("layout", { selector: "Framed", is: "not_covered" }, false, "it is covered by div#over.b");
  });

  it("sees what covers a frame within a frame", async () => {
    const inner = "<button>Deep</button>";
    await see.page.setContent(`<iframe style="margin:20px" srcdoc='<iframe style="margin:10px" srcdoc="${inner}"></iframe>
      <p id=over style="position:fixed;inset:0;margin:0;background:red;display:none">'></iframe>`);
    const frame = see.page.frameLocator("iframe");
    await frame.frameLocator("iframe").locator("button").waitFor();
    await judges("layout", { selector: "Deep", is: "not_covered" }, true, "nothing covers it");
    await frame.locator("#over").evaluate((one) => one.style.removeProperty("display"));
    await judges("layout", { selector: "Deep", is: "not_covered" }, false, "it is covered by p#over");
  });

  it("takes another element only where it compares with one", async () => {
    await see.page.setContent(page);
    const problem = expect.objectContaining({ code: "INVALID_PARAMS" });
    await expect(see.read("layout", at("a", "in_window", "b"))).rejects.toEqual(problem);
    await expect(see.read("layout", at("a", "above"))).rejects.toEqual(problem);
  });
});

describe("selected_text", () => {
  it("reads the selection of the page, of a field and of a frame", async () => {
    await see.page.setContent(
      `<p id=p>Some words</p><input id=i value="of a field"><input id=s type=password value=hidden><iframe srcdoc="<p>Framed</p>"></iframe>`,
    );
    const selected = (text: string) => see.read("selected_text", { text });
    expect(await selected("x")).toMatchObject({
      holds: false,
      actual: 'the selected text is ""',
      missing: "absent",
    });
    await see.page.locator("#p").selectText();
    expect(await selected("some words")).toMatchObject({ holds: true });
    await see.page.evaluate("i.focus(); i.setSelectionRange(3, 4)");
    expect(await selected("a")).toMatchObject({ holds: true, actual: 'the selected text is "a"' });
    await see.page.evaluate("getSelection().removeAllRanges(); s.select()");
    expect((await selected("hidden")).holds).toBe(false);
    await see.page.evaluate("s.setSelectionRange(0, 0); s.blur(); getSelection().removeAllRanges()");
    await see.page.frameLocator("iframe").locator("p").selectText();
    expect(await selected("Framed")).toMatchObject({ holds: true });
  });
});

describe("what the page did", () => {
  const faults = `<img src="/missing.png"><script>console.error("told so"); setTimeout(() => { throw new Error("thrown late") })</script>`;
  const html = (body: string) => `<!doctype html><link rel=icon href="data:,">${body}`;
  const answers: Readonly<Record<string, (response: ServerResponse) => void>> = {
    "/": (response) => response.setHeader("content-type", "text/html").end(html("<p>ok</p>")),
    "/bad": (response) => response.setHeader("content-type", "text/html").end(html(faults)),
    "/api": (response) => response.end('{"ok":true,"user":{"name":"Ada","age":36}}'),
    "/open": (response) => void response.write("begun"),
  };

  async function onSite(work: (url: string) => Promise<void>): Promise<void> {
    const site = await serve((request, response) => {
      const answer = answers[request.url ?? ""];
      if (answer) answer(response);
      else response.writeHead(404).end();
    });
    try {
      await work(site.url);
    } finally {
      await see.page.goto("about:blank");
      await site.close();
    }
  }

  it("no_page_errors names each error with its place, and leaves out those that are known", async () => {
    await onSite(async (url) => {
      await see.page.goto(`${url}/`);
      expect(await see.read("no_page_errors", {})).toMatchObject({ holds: true, actual: "it has none" });
      await see.page.goto(`${url}/bad`);
      await expect.poll(async () => (await see.read("no_page_errors", {})).actual).toMatch(/^3: /);
      const { holds, actual } = await see.read("no_page_errors", {});
      expect(holds).toBe(false);
      expect(actual).toMatch(/"Failed to load resource[^"]*404[^"]*" at \S+\/missing\.png/);
      expect(actual).toMatch(/"told so" at \S+\/bad:1/);
      expect(actual).toMatch(/"thrown late" at \S+\/bad:1/);
      const ignore = ["missing.png", "told so", "thrown"];
      expect(await see.read("no_page_errors", { ignore })).toMatchObject({ holds: true });
      expect((await see.read("no_page_errors", { ignore: ignore.slice(1) })).actual).toMatch(/^1: /);
    });
  });

  it("request_seen judges what was sent and what came back", async () => {
    await onSite(async (url) => {
      await see.page.goto(`${url}/`);
      await see.page.evaluate(
        "fetch('/api', { method: 'POST', body: JSON.stringify({ item: 'tea', tags: ['a', 'b'], n: 1 }) }).then((r) => r.text())",
      );
      const seen = (input: object) => see.read("request_seen", { url: "/api", ...input });
      for (const input of [
        { body: '"item":"tea"' },
        { body: { item: "tea" } },
        { body: { tags: ["a", "b"] }, answer: { user: { name: "Ada" } } },
        { method: "post", status: 200, answer: "ok" },
      ])
        expect(await seen(input)).toMatchObject({ holds: true });
      expect(await seen({ body: { item: "milk" } })).toMatchObject({
        holds: false,
        actual: expect.stringContaining("with body"),
      });
      expect((await seen({ body: { tags: ["a"] } })).holds).toBe(false);
      expect((await seen({ answer: { user: { name: "Eve" } } })).actual).toContain("Ada");
      expect((await seen({ answer: { ok: "true" } })).holds).toBe(false);
      expect((await seen({ body: '"item":"te' })).holds).toBe(false);
    });
  });

  it("request_seen refuses a number that has neighbours which it does not know from it", () => {
    const check = see.checks.find(({ name }) => name === "request_seen");
    const parse = (id: number) => check?.input.safeParse({ url: "/api", answer: { order: { id } } }).success;
    expect([parse(9_007_199_254_740_991), parse(9_007_199_254_740_992), parse(0.1)]).toEqual([
      true,
      false,
      true,
    ]);
  });

  it("request_seen does not wait for an answer that goes on", async () => {
    await onSite(async (url) => {
      await see.page.goto(`${url}/`);
      await see.page.evaluate("fetch('/open').then(() => { globalThis.came = true })");
      await expect.poll(() => see.page.evaluate("globalThis.came === true")).toBe(true);
      expect(await see.read("request_seen", { url: "/open", answer: "more" })).toMatchObject({
        holds: false,
        actual: expect.stringContaining("no answer yet"),
      });
    });
  });
});
