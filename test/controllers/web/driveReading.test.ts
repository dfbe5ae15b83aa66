import { beforeAll, describe, expect, it } from "vitest";
import { serve } from "../../fixtures/loopback.ts";
import { shared } from "../../fixtures/shared.ts";
import { failureOf, openWebDevice } from "./webDevice.ts";

const long = "word ".repeat(3_000).trim();
const page = `<pre id=pre>a  b\n\n  c</pre><p id=long>${long}</p><button aria-label="Close"></button>
  <label>Name <input value="  Ada  "></label><label>Code <input type=password value="hunter2"></label>
  <label>Plan <select><option>Free<option selected>Paid</select></label><a id=link href="/x?a=1" data-empty>Link</a>
  <ul><li>1<li>2<li style="display:none">3</ul><p id=late>old</p>
  <button onclick="setTimeout(() => { late.textContent = 'new' }, 200)">Change</button>
  <table id=prices><caption>Prices</caption><thead><tr><th>Item<th colspan=2>Price</tr><tr><th><th>Net<th>Gross</tr></thead>
    <tr><td rowspan=2>Tea<td>1.00<td>1.19</tr><tr><td>2.00<td>2.38</tr>
    <tr style="display:none"><td>Hidden<td>0<td>0</tr>
    <tr><td><input type=checkbox checked><td><input value="3.00"><td><select><option>x<option selected>3.57</select></tr></table>
  <table id=twins><tr><th>A<th>A<th></tr><tr><td>1<td>2<td>3</tr></table>
  <div id=grid role=grid aria-rowcount=501><div role=row aria-rowindex=1><span role=columnheader aria-colindex=1>Id</span></div>
    <div role=row aria-rowindex=2><span role=gridcell aria-colindex=1>7</span></div>
    <div role=row aria-rowindex=1><span role=columnheader aria-colindex=2>Name</span></div>
    <div role=row aria-rowindex=2><span role=gridcell aria-colindex=2>Ada</span></div></div>`;

const site = shared(() =>
  serve((_, response) => {
    response.setHeader("content-type", "text/html").end(`<!doctype html>${page}`);
  }),
);
const device = shared(() => openWebDevice());
beforeAll(async () => {
  await device.run("navigate_to_url", { url: `${site.url}/` });
});

const data = async (command: string, params: Record<string, unknown>) =>
  (await device.run(command, params)).data;

describe("reading commands", () => {
  it.each<[command: string, params: Record<string, unknown>, value: unknown]>([
    ["get_text", { selector: "css=#pre" }, "a  b\n\n  c"],
    ["get_text", { selector: "css=#long" }, long],
    ["get_text", { selector: "Close" }, "Close"],
    ["get_value", { selector: "Name" }, "  Ada  "],
    ["get_value", { selector: "Code" }, "••••"],
    ["get_value", { selector: "Plan" }, "Paid"],
    ["get_attribute", { selector: "Link", attribute: "href" }, "/x?a=1"],
    ["get_attribute", { selector: "Link", attribute: "data-empty" }, ""],
    ["get_attribute", { selector: "Link", attribute: "title" }, null],
    ["get_count", { selector: "css=li" }, 2],
    ["get_count", { selector: "css=ol" }, 0],
  ])("%s %j", async (command, params, value) => {
    expect((await data(command, params))?.value).toBe(value);
  });

  it("read what an action before them led to", async () => {
    await device.run("click_element", { selector: "Change" });
    expect(await data("get_text", { selector: "css=#late" })).toEqual({ value: "new" });
  });

  it("give one of its values of what changes all the time, and do not wait for its end", async () => {
    await device.js("late.textContent = '0'; globalThis.tick = setInterval(() => late.textContent++, 20)");
    const first = Number((await data("get_text", { selector: "css=#late" }))?.value);
    await device.js("new Promise((done) => setTimeout(done, 50))");
    const then = Number((await data("get_text", { selector: "css=#late" }))?.value);
    expect(then).toBeGreaterThan(first);
    await device.js("clearInterval(tick)");
  });

  it("say what cannot be read", async () => {
    expect((await failureOf(device.run("get_value", { selector: "css=#pre" }))).code).toBe("ACTION_REJECTED");
    const gone = await failureOf(device.run("get_text", { selector: "Nobody", timeout_ms: 100 }));
    expect(gone.code).toBe("ELEMENT_NOT_FOUND");
    expect((await failureOf(device.run("get_text", { selector: "css=li" }))).code).toBe("ELEMENT_AMBIGUOUS");
    expect((await failureOf(device.run("get_table", { selector: "css=#pre" }))).code).toBe("ACTION_REJECTED");
    expect((await failureOf(device.run("get_count", { selector: "css=a[" }))).code).toBe("INVALID_SELECTOR");
  });
});

it("an option that appears late is chosen, and one that never appears is named with the nearest", async () => {
  // The page stays, so that a second try needs a list of its own.
  const late = `Late ${performance.now()}`;
  await device.js(`const list = document.createElement("select"); list.setAttribute("aria-label", "${late}");
    list.innerHTML = "<option>One"; document.body.append(list); setTimeout(() => list.append(new Option("Two")), 300)`);
  await device.run("select_option", { selector: late, option: "Two" });
  expect((await data("get_value", { selector: late }))?.value).toBe("Two");
  const failure = await failureOf(
    device.run("select_option", { selector: late, option: "Tow", timeout_ms: 1_000 }),
  );
  expect([failure.code, failure.message]).toEqual(["ELEMENT_NOT_FOUND", expect.stringContaining("Two")]);
});

describe("get_table", () => {
  it("reads cells over several rows and columns, and what fields in cells hold", async () => {
    expect(await data("get_table", { selector: "css=#prices" })).toEqual({
      columns: ["Item", "Price Net", "Price Gross"],
      rows: [
        { Item: "Tea", "Price Net": "1.00", "Price Gross": "1.19" },
        { Item: "Tea", "Price Net": "2.00", "Price Gross": "2.38" },
        { Item: "checked", "Price Net": "3.00", "Price Gross": "3.57" },
      ],
    });
  });

  it("gives columns with one name a number, and those without one theirs", async () => {
    expect(await data("get_table", { selector: "css=#twins" })).toEqual({
      columns: ["A", "A (2)", "3"],
      rows: [{ A: "1", "A (2)": "2", "3": "3" }],
    });
  });

  it("puts the parts of a grid's row together, and says how many rows there are", async () => {
    const result = await device.run("get_table", { selector: "css=#grid" });
    expect(result.data).toEqual({ columns: ["Id", "Name"], rows: [{ Id: "7", Name: "Ada" }], total: 500 });
    expect(result.message).toContain("1 rows of 500");
  });

  it("reads 10,000 rows whole", async () => {
    await device.js(`const rows = Array.from({ length: 10000 }, (_, n) => "<tr><td>" + n + "<td>row " + n + "</tr>");
      document.body.innerHTML = "<table><tr><th>Id<th>Name</tr>" + rows.join("") + "</table>"`);
    const result = await device.run("get_table", { selector: "css=table", timeout_ms: 20_000 });
    const { rows } = result.data ?? {};
    expect(rows).toHaveLength(10_000);
    expect(Array.isArray(rows) && rows.at(-1)).toEqual({ Id: "9999", Name: "row 9999" });
    await device.run("reload");
  });
});
