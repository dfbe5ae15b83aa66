import { expect, test } from "vitest";
import { openReader } from "./seeReader.ts";

const { dump, look } = openReader();
const svg = '<svg width="18" height="18"></svg>';

test.each([
  [`<button class="ql-bold">${svg}</button>`, "bold"],
  [`<button class="ql-link">${svg}</button>`, "link"],
  [`<button class="ql-list" value="ordered">${svg}</button>`, "list ordered"],
  [`<button class="ql-list" value="bullet">${svg}</button>`, "list bullet"],
  [`<button class="ql-header" value="1">${svg}</button>`, "header 1"],
  [`<button class="tb" data-command="insertUnorderedList">${svg}</button>`, "insert unordered list"],
  [`<button class="tox-tbtn" data-mce-name="bold">${svg}</button>`, "bold"],
  ['<button><i class="icon-x" style="padding:5px"></i></button>', "close"],
  ['<button><i class="material-icons">delete</i> Remove</button>', "Remove"],
  ['<button><i class="material-icons">delete</i></button>', "delete"],
  ["<button>B</button>", "B"],
])("a tool has a name that is understood: %s", async (html, name) => {
  expect((await look(html)).map((one) => one.name)).toEqual([name]);
});

test("classes of a style sheet name no tool", async () => {
  expect((await look(`<button class="btn-link">${svg}</button>`)).map((one) => one.name)).toEqual([""]);
});

test("an item and the box that is pressed with it are one", async () => {
  const item = (name: string) =>
    `<li style="cursor:pointer" onclick="1"><div role="menuitem" tabindex="-1">${name}</div></li>`;
  expect(await dump(`<ul role="menu">${item("Save")}${item("Zoom In")}</ul>`)).toEqual([
    'menuitem "Save"',
    'menuitem "Zoom In"',
  ]);
});

test("a field's own label, below it in its box, wins over what the page says", async () => {
  const field = (name: string) => `<div class="e"><input><div>${name}</div></div>`;
  const html = `<div>Search for movies.</div><div>${field("Genre")}${field("Director")}${field("Year")}</div>`;
  expect((await look(html)).map((one) => one.name)).toEqual(["Genre", "Director", "Year"]);
});

test("a hint below a field is not its label", async () => {
  const field = (name: string) => `<p>${name}</p><div><input><small>Required</small></div>`;
  expect((await look(field("Name") + field("Mail"))).map((one) => one.name)).toEqual(["Name", "Mail"]);
});

test("a native list that a picker has taken the place of comes last", async () => {
  const select =
    "<select style='position:absolute;width:1px;height:1px;clip:rect(0 0 0 0);overflow:hidden'><option>A<option>B</select>";
  expect((await look(`${select}<button>A</button><button>Other</button>`)).map(({ role }) => role)).toEqual([
    "button",
    "button",
    "combobox",
  ]);
});
