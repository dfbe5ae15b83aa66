import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Element } from "../../../controllers/src/contract.ts";
import { locate } from "../../../controllers/src/web/locate.ts";
import { diffElements, renderChanges } from "../../../mcp-server/src/services/screen/diff.ts";
import { findElements } from "../../../mcp-server/src/services/screen/find.ts";
import { renderElements } from "../../../mcp-server/src/services/screen/render.ts";
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

async function look(html: string, interactiveOnly = true): Promise<readonly Element[]> {
  await see.page.setContent(html);
  return (await see.look.dump({ interactiveOnly }, signal)).elements;
}

/** A dump as a model reads it, without its refs. */
const read = (elements: readonly Element[]) =>
  renderElements(elements, { maxTokens: 5_000 })
    .text.replace(/(^|[ :(])e\d+ /gm, "$1")
    .split("\n")
    .map((line) => line.trim());
const dump = async (html: string, interactiveOnly = true) => read(await look(html, interactiveOnly));
const find = async (html: string, query: string) => read(findElements(await look(html, false), query));
/** Clicks what `find` gives first, and says what the page has heard. */
async function click(html: string, query: string): Promise<string> {
  const elements = await look(`<script>const said=[];const say=(x)=>{said.push(x)}</script>${html}`, false);
  const ref = findElements(elements, query)[0]?.ref ?? "none";
  await (await locate(see.session, { ref }, signal)).click({ timeout: 5_000 });
  return String(await see.page.evaluate("said.join()"));
}

const listens = (id: string) => `<script>document.getElementById("${id}").onclick=()=>0</script>`;

test("a page that puts classes of its own in place of the browser's is read and found in all the same", async () => {
  const script = "for (const name of ['Document', 'Element', 'HTMLElement']) window[name] = function () {}";
  await see.page.goto(
    `data:text/html,<script>${script}</script><button onclick="title='pressed'">Save</button>`,
  );
  const { elements } = await see.look.dump({ interactiveOnly: true }, signal);
  expect(elements.map(({ name }) => name)).toEqual(["Save"]);
  await (await locate(see.session, { selector: "Save" }, signal)).click({ timeout: 2_000 });
  expect(await see.page.evaluate("document.querySelector('button').title")).toBe("pressed");
  await see.page.goto("about:blank");
});

describe("what can be pressed inside of what can be pressed", () => {
  test("entries of a tree of lists are each there, and a branch has its own words only", async () => {
    expect(
      await dump(
        `<ul><li onclick="0">Docs<ul><li onclick="0">guide.md</li><li onclick="0">notes.md</li></ul></li></ul>`,
      ),
    ).toEqual(
      ['clickable: "Docs" "guide.md" "notes.md"'].flatMap(() => [
        'clickable "Docs"',
        'clickable "guide.md"',
        'clickable "notes.md"',
      ]),
    );
  });

  test("entries of a tree of boxes are each there", async () => {
    const node = (name: string, inner = "") =>
      `<div class="node" onclick="0"><span>${name}</span><div class="children">${inner}</div></div>`;
    expect(await dump(node("Docs", node("guide.md") + node("notes.md")))).toEqual([
      'clickable "Docs"',
      'clickable "guide.md"',
      'clickable "notes.md"',
    ]);
  });

  test("a list that points as a whole and listens is its entries", async () => {
    expect(
      await dump(`<ul id=s style="cursor:pointer"><li>Berlin</li><li>Bern</li></ul>${listens("s")}`),
    ).toEqual(['clickable "Berlin"', 'clickable "Bern"']);
  });

  test("days within a box that listens around their own box are each there", async () => {
    const days = Array.from({ length: 6 }, (_, day) => `<span style="cursor:pointer">May ${day + 1}</span>`);
    const html = `<div id=days><div>${days.join("")}</div></div>${listens("days")}`;
    expect(await dump(html)).toEqual([`clickable: ${days.map((_, day) => `"May ${day + 1}"`).join(" ")}`]);
  });

  test("a row is what is in it, where it says nothing else", async () => {
    const cells = (words: string[]) => words.map((word) => `<td onclick="0">${word}</td>`).join("");
    const html = `<table><tr onclick="0">${cells(["Ada", "36"])}</tr><tr onclick="0">${cells(["Bob", "40"])}</tr></table>`;
    expect(await dump(html)).toEqual(
      ["Ada 36", "Bob 40"].flatMap((row) => row.split(" ").map((word) => `clickable "${word}"`)),
    );
  });

  test("a row that is selected says so, also where its cells have all its words", async () => {
    const row = (name: string, more = "") =>
      `<div role=row ${more}><span role=gridcell tabindex=0>${name}</span> <span role=gridcell tabindex=0>36</span></div>`;
    const html = `<div role=grid aria-label=People>${row("Ada", "aria-selected=true")}${row("Bob")}</div>`;
    const lines = (await dump(html)).join("\n");
    expect(lines).toMatch(/^row .*selected$/m);
    expect(lines.match(/^row/gm)).toHaveLength(1);
  });

  test("icons without words beside each other are each there", async () => {
    const icon = `<span class=confirm onclick="0" style="display:inline-block;width:15px;height:15px"><svg width=9 height=9></svg></span>`;
    const html = `<div class=confirm style="cursor:pointer;width:60px">${icon}${icon}</div>`;
    expect((await look(html)).filter(({ name }) => name === "confirm").length).toBeGreaterThan(1);
  });

  test("a part of a tab or button is pressed with it", async () => {
    const html = `<button role=tab aria-label="Smileys"><span style="cursor:pointer;font-size:9px">😀</span></button>`;
    expect(await dump(html)).toEqual(['tab "Smileys"']);
  });

  test("a leaf of a tree says its words once", async () => {
    const html = `<ul role=tree><li role=none><a role=treeitem href="#1">Docs</a></li></ul>`;
    expect(await dump(html, false)).toEqual(['treeitem "Docs"']);
  });

  test("a mark with a listener of its own stays, also where its words are among those around it", async () => {
    expect(
      await dump(
        `<div role=option>Tag <span onclick="0">×</span></div><a href="#x">Star me <i onclick="0">★</i></a>`,
      ),
    ).toEqual([
      expect.stringMatching(/^option "Tag ×"/),
      expect.stringMatching(/^clickable "×"/),
      expect.stringMatching(/^link "Star me ★"/),
      expect.stringMatching(/^clickable "★"/),
    ]);
  });

  test("a mark without words and with a listener of its own stays", async () => {
    const lines = await dump(
      `<div onclick="0" style="width:200px"><b onclick="0" style="display:inline-block;width:12px;height:12px;background:red"></b> Docs</div>`,
    );
    expect(lines).toEqual([expect.stringMatching(/^clickable "Docs"/), expect.stringMatching(/^clickable/)]);
  });

  test("a row that listens is there beside its actions", async () => {
    expect(
      await dump(
        `<table><tr onclick="0"><td>Ada</td><td><button>Edit</button></td></tr></table><ul><li onclick="0">Bob <a href="#b">Open</a></li></ul>`,
      ),
    ).toEqual(['clickable "Ada Edit"', 'button "Edit"', 'clickable "Bob Open"', 'link "Open"']);
  });

  test("a box that listens around one that listens, with the same words and in the same place, is one thing", async () => {
    expect(await dump(`<div onclick="0"><div onclick="0"><span>Save</span></div></div>`)).toEqual([
      'clickable "Save"',
    ]);
  });

  test("a child far behind in a long name is there", async () => {
    const words = "lorem ipsum dolor ".repeat(20);
    expect((await dump(`<div onclick="0">${words}<span onclick="0">Dismiss</span></div>`)).at(-1)).toBe(
      'clickable "Dismiss"',
    );
  });
});

describe("nothing is cut without saying how much", () => {
  test.each([
    ["a name", `<button>${"n".repeat(300)}</button>`, /"n+ … (\d+) more"/, 300],
    ["a value", `<input aria-label=A value="${"n".repeat(300)}">`, /= "n+ … (\d+) more"/, 300],
    ["a text", `<div role=alert>${"n".repeat(900)}</div>`, /"n+ … (\d+) more"/, 900],
    [
      "a title",
      `<div role=dialog aria-label="A"><p>${"n".repeat(2_000)}</p></div>`,
      /n+ … (\d+) more/,
      2_000,
    ],
  ])("%s", async (_, html, pattern, whole) => {
    const line = (await dump(html)).join("\n");
    const shown = (line.match(/n{5,}/)?.[0] ?? "").length;
    expect(Number(pattern.exec(line)?.[1]) + shown).toBe(whole);
    expect(line).not.toMatch(/…"|…$/);
  });

  test("a name that was cut still finds its element, as it stands in the dump", async () => {
    const name = `Read the whole story of ${"words and ".repeat(20)}nothing`;
    await see.page.setContent(
      `<button id=long>${name}</button><button>Read the whole story of ${"words and ".repeat(20)}more</button>`,
    );
    const { elements } = await see.look.dump({ interactiveOnly: true }, signal);
    const cut = elements[0]?.name ?? "";
    expect(cut).toMatch(/… \d+ more$/);
    const found = await locate(see.session, { selector: `role=button[name="${cut}"]` }, signal, 0);
    expect(await found.getAttribute("id")).toBe("long");
    const [selectors = []] = await see.look.selectors([elements[0]?.ref ?? ""], signal);
    for (const { selector } of selectors.filter(({ unique }) => unique))
      expect(await (await locate(see.session, { selector }, signal, 0)).getAttribute("id")).toBe("long");
  });
});

describe("lists", () => {
  const countries = Array.from({ length: 250 }, (_, at) => (at === 180 ? "Portugal" : `Land ${at}`));
  const select = `<label>Country <select>${countries.map((one) => `<option>${one}`).join("")}</select></label>`;

  test("say how many options there are more, and find reaches all of them", async () => {
    expect(await dump(select)).toEqual([
      'combobox "Country" = "Land 0" (Land 0 | Land 1 | Land 2 | Land 3 | Land 4 | 245 more)',
    ]);
    expect(await find(select, "Portugal")).toEqual([
      expect.stringMatching(/^combobox "Country" .*\(Portugal \| .*24\d more\)$/),
    ]);
    expect(await find(select, "country Portugal")).toEqual([
      expect.stringMatching(/^combobox "Country" .*\(Portugal \| /),
    ]);
  });

  test("suggestions of a field are its choices", async () => {
    expect(
      await dump(
        `<input aria-label=City list=c><datalist id=c><option value=Bern><option value=Berlin></datalist>`,
      ),
    ).toEqual(['combobox "City" (Bern | Berlin)']);
  });

  test("an option that appears late is a change", async () => {
    await see.page.setContent(
      `<select aria-label=Size><option>S</select><script>const more=()=>document.querySelector("select").add(new Option("XL"))</script>`,
    );
    const before = await see.look.dump({ interactiveOnly: false }, signal);
    await see.page.evaluate("more()");
    const after = await see.look.dump({ interactiveOnly: false }, signal);
    expect(renderChanges(diffElements(before.elements, after.elements), 100).text).toMatch(
      /^~ e\d+ combobox "Size" = "S" \(S \| XL\)/,
    );
  });
});

describe("fields", () => {
  test.each([
    [
      `<input aria-label=A type=date min=2026-01-01 max=2026-12-31>`,
      'textbox "A" date 2026-01-01 to 2026-12-31',
    ],
    [`<input aria-label=A type=email required>`, 'textbox "A" email required'],
    [`<input aria-label=A type=number min=1 max=9 step=2 value=3>`, 'spinbutton "A" = "3" 1 to 9, step 2'],
    [`<input aria-label=A type=number min=1>`, 'spinbutton "A" at least 1'],
    [`<input aria-label=A type=range min=0 max=50 value=5>`, 'slider "A" = "5" 0 to 50'],
    [`<input aria-label=A type=range value=5>`, 'slider "A" = "5" 0 to 100'],
    [`<input aria-label=A pattern="[A-Z]{3}">`, 'textbox "A" pattern [A-Z]{3}'],
    [`<input aria-label=A placeholder="dd/mm/yyyy">`, 'textbox "A" like "dd/mm/yyyy"'],
    [`<input aria-label=A placeholder="Your name">`, 'textbox "A"'],
    [`<input aria-label=A maxlength=4>`, 'textbox "A" at most 4 characters'],
    [`<input aria-label=A type=file accept=".pdf,.png" multiple>`, 'file "A" .pdf,.png multiple'],
    [`<select aria-label=A multiple><option>x<option>y</select>`, 'listbox "A" multiple (x | y)'],
    [
      `<div role=slider aria-label=A tabindex=0 aria-valuenow=3 aria-valuemin=0 aria-valuemax=10>o</div>`,
      'slider "A" = "3" 0 to 10',
    ],
    [
      `<div role=slider aria-label=A tabindex=0 aria-valuenow=3 aria-valuetext="3 of many">o</div>`,
      'slider "A" = "3 of many"',
    ],
    [`<div role=spinbutton aria-label=A tabindex=0>7</div>`, 'spinbutton "A" = "7"'],
    [`<input aria-label=A>`, 'textbox "A"'],
    [`<textarea aria-label=A rows=3 readonly>x</textarea>`, 'textbox "A" = "x" readonly'],
  ])("say what they take: %s", async (html, line) => {
    expect(await dump(html)).toEqual([line]);
  });

  test.each([
    [`<input aria-label=A aria-invalid=true aria-errormessage=e><p id=e>Too short</p>`],
    [`<input aria-label=A aria-invalid=true aria-describedby=e><p id=e>Too short</p>`],
    [
      `<div role=slider tabindex=0 aria-label=A aria-invalid=true aria-errormessage=e>o</div><p id=e>Too short</p>`,
    ],
  ])("say the error that is shown for them: %s", async (html) => {
    expect((await dump(html))[0]).toMatch(/"A" invalid error "Too short"/);
    expect((await dump(html.replace("=true", "=false")))[0]).not.toContain("error");
  });

  test("say what the browser says of them once a user has left them", async () => {
    await see.page.setContent(`<form><input aria-label=A type=email required><button>Go</button></form>`);
    await see.page.fill("input", "nobody");
    await see.page.press("input", "Tab");
    const { elements } = await see.look.dump({ interactiveOnly: true }, signal);
    expect(read(elements)[0]).toMatch(/^textbox "A" = "nobody" email required invalid error ".*@.*"$/);
  });

  test.each([
    ["before it", `<div>City</div><div><input></div>`],
    ["before it, without a tag", `City: <input>`],
    [
      "above it",
      `<div class=row><div class=cell><span>City</span></div><div class=cell><div><input></div></div></div>`,
    ],
    ["in the row of a table", `<table><tr><td>City</td><td><input></td></tr></table>`],
    ["with a format inside", `<div>City</div><input placeholder="99-999">`],
    [
      "of a slider made of boxes",
      `<div>City</div><div><div role=slider tabindex=0 aria-valuenow=1 style="width:9px;height:9px"></div></div>`,
    ],
  ])("a label that nothing ties to a field names it, and is marked as guessed: %s", async (_, html) => {
    const other = `<p>Name <input id=other></p>`;
    expect((await dump(other + html))[1]).toMatch(/^(textbox|slider) "City:?" \(label guessed\)/);
    const found = await locate(see.session, { selector: "label~=City" }, signal, 0);
    expect(await found.getAttribute("id")).toBe(null);
  });

  test("a label that is tied goes before one that is guessed", async () => {
    await see.page.setContent(`<div>City</div><input id=guessed><label>City <input id=tied></label>`);
    const found = await locate(see.session, { selector: "label=City" }, signal, 0);
    expect(await found.getAttribute("id")).toBe("tied");
  });

  test("a slider and a stepper without any role have the words beside them", async () => {
    const lines = await dump(
      `<div>Volume <span>40%</span><div class="slider-handle" tabindex=0 style="width:9px;height:9px"></div></div>
       <div><span>Guests</span> <button>-</button><b>2</b><button>+</button></div>`,
    );
    expect(lines[0]).toMatch(/^clickable ".*" beside "Volume 40%"$/);
    expect(lines.slice(1)).toEqual(['button "-" beside "Guests 2"', 'button "+" beside "Guests 2"']);
  });

  test("one that changes while it is read is read once, and its change is told", async () => {
    await see.page.setContent(`<input aria-label=Clock value=0><script>
      const field=document.querySelector("input");const tick=()=>{field.value=String(Number(field.value)+1);go=requestAnimationFrame(tick)};let go=requestAnimationFrame(tick)</script>`);
    const before = await see.look.dump({ interactiveOnly: true }, signal);
    await see.page.waitForFunction(`field.value !== ${JSON.stringify(before.elements[0]?.value)}`);
    const after = await see.look.dump({ interactiveOnly: true }, signal);
    await see.page.evaluate("cancelAnimationFrame(go)");
    expect(renderChanges(diffElements(before.elements, after.elements), 100).text).toMatch(
      /^~ e\d+ textbox "Clock" = "\d+" focused?, was "\d+"$|^~ e\d+ textbox "Clock" = "\d+", was "\d+"$/,
    );
  });
});

describe("elements of one role and one name", () => {
  test.each([
    [
      "the words of their row",
      `<ul><li>Ada <button>Delete</button></li><li>Bob <button>Delete</button></li></ul>`,
      ['by "Ada"', 'by "Bob"'],
    ],
    [
      "the words before them",
      `<h3>Ada</h3><button>Delete</button><h3>Bob</h3><button>Delete</button>`,
      ['by "Ada"', 'by "Bob"'],
    ],
    [
      "their title",
      `<button title="One">Go</button><button title="Two">Go</button>`,
      ['title "One"', 'title "Two"'],
    ],
    [
      "their test id",
      `<button data-testid=one>Go</button><button data-testid=two>Go</button>`,
      ["testid one", "testid two"],
    ],
    ["their id", `<button id=one>Go</button><button id=two>Go</button>`, ["#one", "#two"]],
    [
      "their colour",
      `<i onclick="0" style="display:inline-block;width:9px;height:9px;background:rgb(255,0,0)"></i><i onclick="0" style="display:inline-block;width:9px;height:9px;background:rgb(0,128,0)"></i>`,
      ["colour #ff0000", "colour #008000"],
    ],
    ["their tag", `<b onclick="0">Go</b><i onclick="0">Go</i>`, ["tag b", "tag i"]],
    ["their number", `<button>Go</button><button>Go</button>`, ["1 of 2", "2 of 2"]],
  ])("are told apart by %s, and find finds by it", async (_, html, signs) => {
    const elements = await look(html);
    const alike = elements.filter(({ interactive }) => interactive);
    expect(alike.map(({ apart }) => apart)).toEqual(signs);
    const { name } = alike[1] ?? { name: "" };
    expect(findElements(elements, `${name} ${signs[1]}`)[0]?.ref).toBe(alike[1]?.ref);
  });

  test("are told apart in a dump only where what stands between them does not", async () => {
    expect(
      await dump(
        `<ul><li><label><input type=checkbox> Ada</label><button>Delete</button></li><li><label><input type=checkbox> Bob</label><button>Delete</button></li></ul>`,
      ),
    ).toEqual(['checkbox "Ada"', 'button "Delete"', 'checkbox "Bob"', 'button "Delete"']);
    expect(await dump(`<button>Go</button><button>Go</button>`)).toEqual([
      'button "Go" 1 of 2',
      'button "Go" 2 of 2',
    ]);
    expect(await dump("<button>Go</button><button>Stop</button>")).toEqual(['button "Go"', 'button "Stop"']);
  });

  test("find says what tells them apart, and what it finds can be used", async () => {
    const rows = ["Ada", "Bob"].map(
      (name) => `<tr><td>${name}</td><td><button onclick="say('${name}')">Delete</button></td></tr>`,
    );
    const html = `<table>${rows.join("")}</table>`;
    expect(await find(html, "delete")).toEqual(['button "Delete" by "Ada"', 'button "Delete" by "Bob"']);
    expect(await click(html, "delete Bob")).toBe("Bob");
  });

  test("a selector said to be unique is, in SVG and in every frame", async () => {
    await see.page.setContent(
      `<svg width=200 height=60><g><circle cx=20 cy=20 r=9 onclick="0"/></g><g><circle cx=60 cy=20 r=9 onclick="0"/><circle cx=90 cy=20 r=9 onclick="0"/></g></svg>
       <p><button>A</button></p><iframe srcdoc="<body><p><button>A</button></p>"></iframe>`,
    );
    await see.page.frameLocator("iframe").locator("button").waitFor();
    const { elements } = await see.look.dump({ interactiveOnly: true }, signal);
    const targets = elements.filter(({ interactive }) => interactive);
    const ranked = await see.look.selectors(
      targets.map(({ ref }) => ref),
      signal,
    );
    let unique = 0;
    for (const [at, selectors] of ranked.entries()) {
      const box = await (await locate(see.session, { ref: targets[at]?.ref }, signal)).boundingBox();
      for (const { selector } of selectors.filter((one) => one.unique)) {
        unique++;
        const found = await locate(see.session, { selector }, signal, 0);
        expect([selector, await found.boundingBox()]).toEqual([selector, box]);
      }
    }
    expect(unique).toBeGreaterThan(3);
  });
});

describe("tables", () => {
  const table = `<table><thead><tr><th>Name<th>Age<th>City</thead><tbody>
    <tr><td>Ada<td>36<td>Paris<tr><td>Bob<td>40<td>Rome</tbody></table>`;

  test("are rows with their headers", async () => {
    expect(await dump(table, false)).toEqual([
      'row "Name | Age | City"',
      'row "Ada | 36 | Paris"',
      'row "Bob | 40 | Rome"',
    ]);
    expect(await find(table, "Rome")).toEqual(['row (Name | Age | City) "Bob | 40 | Rome"']);
  });

  test("in which double clicks are heard have their cells, empty ones too", async () => {
    const html = `<div id=t style="height:90vh"><table><tr><th>Month<th>Rent</tr><tr><td>March<td>&nbsp;</tr></table><p>Note</p></div>
      <script>document.getElementById("t").addEventListener("dblclick", () => 0)</script>`;
    expect(await dump(html, false)).toEqual([
      'row "Month | Rent"',
      'cell "March"',
      "cell",
      'paragraph "Note"',
    ]);
    expect(await dump(html)).toEqual([""]);
  });

  test("of boxes with roles are rows as well", async () => {
    const row = (cells: string[], role: string) =>
      `<div role=row>${cells.map((cell) => `<div role=${role}>${cell}</div>`).join("")}</div>`;
    const html = `<div role=table>${row(["Name", "Age"], "columnheader")}${row(["Ada", "36"], "cell")}</div>`;
    expect(await dump(html, false)).toEqual(['row "Name | Age"', 'row "Ada | 36"']);
  });

  test("a calendar has its month and its weekdays, and a week is a line", async () => {
    const week = (days: number[]) => `<tr>${days.map((day) => `<td onclick="0">${day}</td>`).join("")}</tr>`;
    expect(
      await dump(`<div><div><button>‹</button><span>November 2026</span><button>›</button></div><table><thead><tr><th>Mo<th>Tu<th>We</thead>
        <tbody>${week([2, 3, 4])}${week([9, 10, 11])}</tbody></table></div>`),
    ).toEqual([
      'button "‹" beside "November 2026"',
      'button "›" beside "November 2026"',
      'table "November 2026"',
      "row (Mo | Tu | We)",
      'clickable: "2" "3" "4"',
      'clickable: "9" "10" "11"',
    ]);
  });

  test("a calendar of boxes has its month", async () => {
    const days = Array.from(
      { length: 14 },
      (_, at) => `<span onclick="0" style="margin:3px">${at + 1}</span>`,
    ).join("");
    expect(
      (
        await dump(`<div><div class=head><span>November 2026</span></div><div class=days>${days}</div></div>`)
      )[0],
    ).toBe('group "November 2026"');
  });

  test("a table that only lays out is no table", async () => {
    const lines = await dump(
      `<table><tr><td><h2>Menu</h2><p>Some words</p></td><td><table><tr><td>inner</td></tr></table></td></tr></table>`,
      false,
    );
    expect(lines.join("\n")).not.toContain("row");
    expect(lines.join("\n")).toContain("Some words");
  });

  test("one of 10,000 rows is read within its limits, and says what was left out", async () => {
    const rows = Array.from({ length: 10_000 }, (_, at) => `<tr><td>Name ${at}<td>${at}<td>x</tr>`).join("");
    await see.page.setContent(
      `<table><thead><tr><th>Name<th>No<th>Mark</thead><tbody>${rows}</tbody></table>`,
    );
    const seen = await see.look.dump({ interactiveOnly: false }, AbortSignal.timeout(30_000));
    expect(seen.elements.length).toBeGreaterThan(500);
    expect(seen.notices.join()).toMatch(/very large: \d+ elements listed/);
    expect(read(findElements(seen.elements, "Name 321"))[0]).toBe(
      'row (Name | No | Mark) "Name 321 | 321 | x"',
    );
    expect(renderElements(seen.elements, { maxTokens: 300 }).text).toMatch(/… \d+ more like this/);
  });
});
