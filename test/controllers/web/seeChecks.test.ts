import { expect, test } from "vitest";
import { longText, patterns } from "../../fixtures/hostile/index.ts";
import { serve } from "../../fixtures/loopback.ts";
import { openForTests, openSeeing, signal } from "./seeSession.ts";

const see = openForTests();

const page = `<title>Shop  basket</title><h1>Basket</h1>
  <button id=pay data-kind="main">Pay now</button><button disabled>Locked</button><button style="opacity:0">Ghost</button>
  <label><input type=checkbox checked> Gift</label><label>Name <input value="Ada"></label>
  <ul><li>Tea</li><li>Bread</li><li style="display:none">Secret</li></ul>
  <p>Total: <b>12.50</b> EUR</p><p style="display:none">Hidden words</p>
  <x-s></x-s><iframe srcdoc="<p>Framed words</p>"></iframe>
  <script>customElements.define("x-s",class extends HTMLElement{constructor(){super();this.attachShadow({mode:"open"}).innerHTML="<p>Shadow words</p>"}})</script>`;

test.each<[name: string, input: object, holds: boolean, actual: string | RegExp]>([
  ["element_exists", { selector: "Pay now" }, true, "it is visible"],
  ["element_exists", { selector: "css=p" }, true, "it is visible"],
  ["element_exists", { selector: "Refund" }, false, "nothing matches"],
  ["element_visible", { selector: "Pay now" }, true, "it is visible"],
  ["element_visible", { selector: "Ghost" }, false, "it exists and is hidden"],
  ["element_visible", { selector: "id=none" }, false, "nothing matches"],
  ["element_hidden", { selector: "Ghost" }, true, "it exists and is hidden"],
  ["element_hidden", { selector: "id=none" }, true, "nothing matches"],
  ["element_hidden", { selector: "Pay now" }, false, "it is visible"],
  ["element_enabled", { selector: "Pay now" }, true, "it is enabled"],
  ["element_enabled", { selector: "Locked" }, false, "it is disabled"],
  ["element_checked", { selector: "Gift" }, true, "it is checked"],
  ["element_checked", { selector: "Pay now" }, false, /^it is a button, and nothing says/],
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
  const reading = await see.read(name, input);
  expect(reading).toMatchObject({
    holds,
    actual: expect.stringMatching(actual instanceof RegExp ? actual : plain(actual)),
  });
  expect(reading.expected).not.toBe("");
});

const plain = (text: string) => new RegExp(`^${text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`);

test.each<[name: string, input: object, holds: boolean]>([
  ["element_text", { selector: "id=t", text: "Pay now" }, true],
  ["element_text", { selector: "id=t", text: "pay now" }, false],
  ["element_text", { selector: "id=t", text: " Pay now" }, false],
  ["element_text", { selector: "id=t", text: "Pay  now" }, false],
  ["element_text", { selector: "id=pre", text: "a  b\n c" }, true],
  ["element_text", { selector: "id=pre", text: "a b c" }, false],
  ["element_text", { selector: "id=nb", text: "a b" }, false],
  ["element_text", { selector: "id=nb", text: "a\u00a0b" }, true],
  ["element_text", { selector: "id=two", text: "One\nTwo" }, true],
  ["element_value", { selector: "id=v", value: "Ada " }, true],
  ["element_value", { selector: "id=v", value: "Ada" }, false],
  ["element_value", { selector: "id=v", value: "ada " }, false],
  ["element_attribute", { selector: "id=t", attribute: "data-k", value: "Main " }, true],
  ["element_attribute", { selector: "id=t", attribute: "data-k", value: "main" }, false],
  ["title_matches", { title: "Shop basket" }, true],
  ["title_matches", { title: "shop basket" }, false],
  ["url_matches", { url: "about:blank" }, true],
  ["url_matches", { url: "About:blank" }, false],
  ["text_visible", { text: "Pay now" }, true],
  ["text_visible", { text: "pay now" }, false],
  ["text_visible", { text: "Pay" }, false],
])("exact compares exactly: %s %j is %s", async (name, input, holds) => {
  await see.page.setContent(`<title>Shop basket</title><button id=t data-k="Main ">
      Pay
      now </button><pre id=pre>a  b\n c</pre><p id=nb>a&nbsp;b</p><div id=two><p>One</p><p>Two</p></div><input id=v value="Ada ">`);
  expect((await see.read(name, { ...input, match: "exact" })).holds).toBe(holds);
  if (name !== "text_visible" || holds) {
    const folded = JSON.parse(JSON.stringify(input).replaceAll("\u00a0", " "));
    expect((await see.read(name, { ...folded, match: "same" })).holds).toBe(true);
  }
});

test("what does not hold prints the values as they are, and white space where that is all that differs", async () => {
  const long = "x".repeat(3_000);
  await see.page.setContent(
    `<title>a</title><pre id=p>Pay  Now</pre><p id=l>${long}</p><p id=n>a&nbsp;b</p>`,
  );
  const says = async (input: object) => {
    const { expected, actual } = await see.read("element_text", { match: "exact", ...input });
    return [expected, actual];
  };
  expect(await says({ selector: "id=p", text: "PAY" })).toEqual([
    'text of "id=p" is exactly "PAY"',
    'text is "Pay  Now"',
  ]);
  expect(await says({ selector: "id=p", text: "Pay Now" })).toEqual([
    'text of "id=p" is exactly "Pay␣Now"',
    'text is "Pay␣␣Now"',
  ]);
  expect((await says({ selector: "id=n", text: "a b" }))[1]).toBe('text is "a\\u00a0b"');
  expect((await says({ selector: "id=l", text: "y" }))[1]).toMatch(/^text is "x{1000}" … 2000 more$/);
  const late = `${long.slice(0, 2_500)}y`;
  expect((await says({ selector: "id=l", text: late }))[0]).toMatch(/is exactly 2300 more … "x{200}y"$/);
});

test("element_count counts every case, and checks of one element mean the one in the case asked for", async () => {
  await see.page.setContent(`<button>Save</button><button disabled>SAVE</button>`);
  expect((await see.read("element_count", { selector: "Save", count: 2 })).holds).toBe(true);
  expect((await see.read("element_enabled", { selector: "SAVE" })).actual).toBe("it is disabled");
  expect((await see.read("element_enabled", { selector: "Save" })).holds).toBe(true);
});

test("a check that does not hold names the nearest", async () => {
  await see.page.setContent(page);
  expect((await see.read("element_visible", { selector: "Pay" })).nearest?.[0]).toBe(
    'role=button[name="Pay now"]',
  );
  expect((await see.read("text_visible", { text: "Total: 21.50" })).nearest?.[0]).toBe("Total: 12.50 EUR");
  expect((await see.read("element_text", { selector: "css=li", text: "Tea" })).nearest).toHaveLength(2);
});

test("a ref can be checked, and one that is gone matches nothing", async () => {
  await see.page.setContent(`<button id=a>Stay</button>`);
  const { elements } = await see.look.dump({ interactiveOnly: true }, signal);
  const ref = elements[0]?.ref;
  expect(await see.read("element_visible", { ref })).toMatchObject({ holds: true });
  await see.page.evaluate("document.getElementById('a').remove()");
  expect(await see.read("element_visible", { ref })).toMatchObject({
    holds: false,
    actual: "nothing matches",
  });
  expect(await see.read("element_hidden", { ref })).toMatchObject({ holds: true });
});

test("the focus is seen where it is", async () => {
  await see.page.setContent(page);
  await see.page.getByLabel("Name").focus();
  expect(await see.read("element_focused", { selector: "Name" })).toMatchObject({ holds: true });
});

test("dialogs, console errors and requests are remembered", async () => {
  const site = await serve((request, response) => {
    response.statusCode = request.url === "/missing" ? 404 : 200;
    response.setHeader("content-type", "text/html").end("<p>ok</p>");
  });
  try {
    await see.page.goto(`${site.url}/`);
    expect(await see.read("console_error_seen", {})).toMatchObject({ holds: false, actual: "none was seen" });
    expect(await see.read("dialog_seen", {})).toMatchObject({ holds: false });
    await see.page.evaluate(
      "fetch('/missing', {method: 'POST'}).then(() => { console.error('bad  thing'); setTimeout(() => { throw new Error('thrown') }) })",
    );
    await expect
      .poll(async () => (await see.read("console_error_seen", { text: "thrown" })).holds)
      .toBe(true);
    expect(await see.read("console_error_seen", { text: "bad thing" })).toMatchObject({ holds: true });
    expect(await see.read("console_error_seen", { text: "worse" })).toMatchObject({ holds: false });
    expect(await see.read("request_seen", { url: "/missing", method: "post", status: 404 })).toMatchObject({
      holds: true,
    });
    const other = await see.read("request_seen", { url: "/missing", status: 200 });
    expect(other.holds).toBe(false);
    expect(other.nearest?.[0]).toMatch(/^POST .*\/missing 404$/);
    see.dialogs.push("Really?");
    expect(await see.read("dialog_seen", { text: "really" })).toMatchObject({
      holds: true,
      actual: 'seen: "Really?"',
    });
  } finally {
    await site.close();
  }
});

test.each(patterns.slice(0, 5))("the pattern %s ends, and others are answered meanwhile", async (pattern) => {
  const fresh = await openSeeing(see.browser);
  await fresh.page.setContent(`<p>${longText}</p><h1>Other</h1>`);
  const read = (name: string, input: object) => {
    const check = fresh.checks.find((one) => one.name === name);
    return check?.read(check.input.parse(input), signal, { ms: 10_000 });
  };
  const wanted = { text: pattern, match: "pattern" };
  const hostile = [read("element_text", { selector: "css=p", ...wanted }), read("text_visible", wanted)];
  let left = hostile.length;
  const ends = hostile.map(async (one) => {
    await expect(one).rejects.toMatchObject({
      code: "INVALID_PARAMS",
      message: expect.stringContaining("takes too long"),
    });
    left -= 1;
  });
  expect(await read("element_exists", { selector: "Other" })).toMatchObject({ holds: true });
  expect(left).toBeGreaterThan(0);
  await Promise.all(ends);
  await fresh.close();
});

test("a broken pattern and a missing target are errors and not verdicts", async () => {
  await see.page.setContent(page);
  await expect(
    see.read("element_text", { selector: "id=pay", text: "(", match: "pattern" }),
  ).rejects.toMatchObject({ code: "INVALID_PARAMS" });
  await expect(see.read("text_visible", { text: "(", match: "pattern" })).rejects.toMatchObject({
    code: "INVALID_PARAMS",
  });
  await expect(see.read("element_visible", {})).rejects.toMatchObject({ code: "INVALID_PARAMS" });
  await expect(see.read("element_visible", { selector: "css=a[" })).rejects.toMatchObject({
    code: "INVALID_SELECTOR",
  });
  await expect(see.read("element_count", { selector: "css=a" })).rejects.toThrow(/count, min or max/);
});

test("every check says what it does", () => {
  expect(see.checks.every(({ description }) => description.length > 10)).toBe(true);
  expect(new Set(see.checks.map(({ name }) => name)).size).toBe(see.checks.length);
});
