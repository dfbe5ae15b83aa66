import { createServer } from "node:http";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Reading } from "../../../controllers/src/contract.ts";
import { launchBrowser, openSeeing, type SeeingPage } from "./seeSession.ts";

const signal = new AbortController().signal;
let browser: Browser;
let see: SeeingPage;

beforeAll(async () => {
  browser = await launchBrowser();
  see = await openSeeing(browser);
});
afterAll(async () => {
  await browser.close();
});

async function read(name: string, input: object): Promise<Reading> {
  const check = see.checks.find((one) => one.name === name);
  if (!check) throw new Error(`no check ${name}`);
  return check.read(check.input.parse(input), signal);
}

const page = `<title>Shop  basket</title><h1>Basket</h1>
  <button id=pay data-kind="main">Pay now</button><button disabled>Locked</button><button style="opacity:0">Ghost</button>
  <label><input type=checkbox checked> Gift</label><label>Name <input value="Ada"></label>
  <ul><li>Tea</li><li>Bread</li><li style="display:none">Secret</li></ul>
  <p>Total: <b>12.50</b> EUR</p><p style="display:none">Hidden words</p>
  <x-s></x-s><iframe srcdoc="<p>Framed words</p>"></iframe>
  <script>customElements.define("x-s",class extends HTMLElement{constructor(){super();this.attachShadow({mode:"open"}).innerHTML="<p>Shadow words</p>"}})</script>`;

test.each<[name: string, input: object, holds: boolean, actual: string | RegExp]>([
  ["element_exists", { selector: "Pay now" }, true, "it exists"],
  ["element_exists", { selector: "css=p" }, true, "it exists"],
  ["element_exists", { selector: "Refund" }, false, "nothing matches"],
  ["element_visible", { selector: "Pay now" }, true, "it is visible"],
  ["element_visible", { selector: "Ghost" }, false, "it exists and is hidden"],
  ["element_visible", { selector: "id=none" }, false, "nothing matches"],
  ["element_hidden", { selector: "Ghost" }, true, "it is hidden"],
  ["element_hidden", { selector: "id=none" }, true, "nothing matches"],
  ["element_hidden", { selector: "Pay now" }, false, "it is visible"],
  ["element_enabled", { selector: "Pay now" }, true, "it is enabled"],
  ["element_enabled", { selector: "Locked" }, false, "it is disabled"],
  ["element_checked", { selector: "Gift" }, true, "it is checked"],
  ["element_checked", { selector: "Pay now" }, false, "it is not checked"],
  ["element_focused", { selector: "Name" }, false, "it is not focused"],
  ["element_count", { selector: "css=li", count: 2 }, true, "2 match"],
  ["element_count", { selector: "css=li", min: 3 }, false, "2 match"],
  ["element_count", { selector: "css=li", min: 1, max: 2 }, true, "2 match"],
  ["element_count", { selector: "css=ol", count: 0 }, true, "0 match"],
  ["element_text", { selector: "id=pay", text: " PAY  now" }, true, 'text is "Pay now"'],
  ["element_text", { selector: "id=pay", text: "Pay" }, false, 'text is "Pay now"'],
  ["element_text", { selector: "id=pay", text: "Pay", match: "contains" }, true, 'text is "Pay now"'],
  ["element_text", { selector: "css=li", text: "Tea" }, false, "2 elements match; name one of them"],
  ["element_value", { selector: "Name", value: "Ada" }, true, 'value is "Ada"'],
  ["element_value", { selector: "Name", value: "/^A.a$/", match: "pattern" }, true, 'value is "Ada"'],
  [
    "element_attribute",
    { selector: "Pay now", attribute: "data-kind", value: "main" },
    true,
    'attribute data-kind is "main"',
  ],
  ["element_attribute", { selector: "Pay now", attribute: "href" }, false, "it has no attribute href"],
  ["text_visible", { text: "total: 12.50 eur" }, true, 'it shows "Total: 12.50 EUR"'],
  ["text_visible", { text: "Total", match: "exact" }, false, "the text is not shown"],
  ["text_visible", { text: "\\d+\\.50", match: "pattern" }, true, /Total/],
  ["text_visible", { text: "Hidden words" }, false, "the text is not shown"],
  ["text_visible", { text: "Framed words" }, true, 'it shows "Framed words"'],
  ["text_visible", { text: "Shadow words" }, true, 'it shows "Shadow words"'],
  ["title_matches", { title: "shop basket" }, true, /Shop\s+basket/],
  ["title_matches", { title: "Till" }, false, /Shop\s+basket/],
  ["url_matches", { url: "about:" }, true, /about:blank/],
  ["url_matches", { url: "/login" }, false, /about:blank/],
])("%s %j reads %s", async (name, input, holds, actual) => {
  await see.page.setContent(page);
  await see.page.frameLocator("iframe").locator("p").waitFor();
  const reading = await read(name, input);
  expect(reading).toMatchObject({
    holds,
    actual: expect.stringMatching(actual instanceof RegExp ? actual : plain(actual)),
  });
  expect(reading.expected).not.toBe("");
});

const plain = (text: string) => new RegExp(`^${text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`);

test("a check that does not hold names the nearest", async () => {
  await see.page.setContent(page);
  expect((await read("element_visible", { selector: "Pay" })).nearest?.[0]).toBe(
    'role=button[name="Pay now"]',
  );
  expect((await read("text_visible", { text: "Total: 21.50" })).nearest?.[0]).toBe("Total: 12.50 EUR");
  expect((await read("element_text", { selector: "css=li", text: "Tea" })).nearest).toHaveLength(2);
});

test("a ref can be checked, and one that is gone matches nothing", async () => {
  await see.page.setContent(`<button id=a>Stay</button>`);
  const { elements } = await see.look.dump({ interactiveOnly: true }, signal);
  const ref = elements[0]?.ref;
  expect(await read("element_visible", { ref })).toMatchObject({ holds: true });
  await see.page.evaluate("document.getElementById('a').remove()");
  expect(await read("element_visible", { ref })).toMatchObject({ holds: false, actual: "nothing matches" });
  expect(await read("element_hidden", { ref })).toMatchObject({ holds: true });
});

test("the focus is seen where it is", async () => {
  await see.page.setContent(page);
  await see.page.getByLabel("Name").focus();
  expect(await read("element_focused", { selector: "Name" })).toMatchObject({ holds: true });
});

test("dialogs, console errors and requests are remembered", async () => {
  const server = createServer((request, response) => {
    response.statusCode = request.url === "/missing" ? 404 : 200;
    response.setHeader("content-type", "text/html").end("<p>ok</p>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  try {
    await see.page.goto(`http://127.0.0.1:${address.port}/`);
    expect(await read("console_error_seen", {})).toMatchObject({ holds: false, actual: "none was seen" });
    expect(await read("dialog_seen", {})).toMatchObject({ holds: false });
    await see.page.evaluate(
      "fetch('/missing', {method: 'POST'}).then(() => { console.error('bad  thing'); setTimeout(() => { throw new Error('thrown') }) })",
    );
    await expect.poll(async () => (await read("console_error_seen", { text: "thrown" })).holds).toBe(true);
    expect(await read("console_error_seen", { text: "bad thing" })).toMatchObject({ holds: true });
    expect(await read("console_error_seen", { text: "worse" })).toMatchObject({ holds: false });
    expect(await read("request_seen", { url: "/missing", method: "post", status: 404 })).toMatchObject({
      holds: true,
    });
    const other = await read("request_seen", { url: "/missing", status: 200 });
    expect(other.holds).toBe(false);
    expect(other.nearest?.[0]).toMatch(/^POST .*\/missing 404$/);
    see.dialogs.push({ type: "alert", message: "Really?", accepted: true, at: new Date().toISOString() });
    expect(await read("dialog_seen", { text: "really" })).toMatchObject({
      holds: true,
      actual: 'seen: "Really?"',
    });
  } finally {
    server.close();
  }
});

test("a broken pattern and a missing target are errors and not verdicts", async () => {
  await see.page.setContent(page);
  await expect(
    read("element_text", { selector: "id=pay", text: "(", match: "pattern" }),
  ).rejects.toMatchObject({ code: "INVALID_PARAMS" });
  await expect(read("text_visible", { text: "(", match: "pattern" })).rejects.toMatchObject({
    code: "INVALID_PARAMS",
  });
  await expect(read("element_visible", {})).rejects.toMatchObject({ code: "INVALID_PARAMS" });
  await expect(read("element_visible", { selector: "css=a[" })).rejects.toMatchObject({
    code: "INVALID_SELECTOR",
  });
  await expect(read("element_count", { selector: "css=a" })).rejects.toThrow(/count, min or max/);
});

test("every check says what it does", () => {
  expect(see.checks.every(({ description }) => description.length > 10)).toBe(true);
  expect(new Set(see.checks.map(({ name }) => name)).size).toBe(see.checks.length);
});
