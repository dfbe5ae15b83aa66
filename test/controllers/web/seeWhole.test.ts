import { describe, expect, test } from "vitest";
import { locate } from "#controllers/web/acting/locate.ts";
import { findElements } from "#mcp-server/services/devices/screen/find.ts";
import { openReader } from "./seeReader.ts";
import { signal } from "./seeSession.ts";

const { see, look, dump, find, click } = openReader();
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

  test("icons without words at the same time are each there", async () => {
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

  test("a row that listens is there next to its actions", async () => {
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
  ])("are kept apart by %s, and find finds by it", async (_, html, signs) => {
    const elements = await look(html);
    const alike = elements.filter(({ interactive }) => interactive);
    expect(alike.map(({ apart }) => apart)).toEqual(signs);
    const { name } = alike[1] ?? { name: "" };
    expect(findElements(elements, `${name} ${signs[1]}`)[0]?.ref).toBe(alike[1]?.ref);
  });

  test("are kept apart in a dump only where what stands between them does not", async () => {
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

  test("find says what keeps them apart, and what it finds can be used", async () => {
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
