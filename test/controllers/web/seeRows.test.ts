import { expect, test } from "vitest";
import { openReader } from "./seeReader.ts";

const { dump, find, click } = openReader();

const table = (head: string, rows: readonly string[]) => `<table>${head}${rows.join("")}</table>`;
const head = "<thead><tr><th>Name</th><th>City</th><th>Action</th></tr></thead>";
const button = (name: string) => `<button onclick="say('${name}')">${name}</button>`;
const link = (name: string) =>
  `<a href="#${name}" onclick="say(this.closest('tr').cells[0].textContent)">${name}</a>`;

test.each([
  ["button", button, " "],
  ["link", link, " | "],
])("two of one name, each a %s of its row, have the words of their row", async (role, item, gap) => {
  const row = (name: string, city: string) =>
    `<tr><td>${name}<td>${city}<td>${item("Edit")}${gap}${item("Delete")}`;
  expect(await dump(table(head, [row("Ada", "Paris"), row("Bob", "Rome")]))).toEqual([
    'row (Name | City | Action) "Ada | Paris"',
    `${role}: "Edit" "Delete"`,
    'row "Bob | Rome"',
    `${role}: "Edit" "Delete"`,
  ]);
});

test("find gives the link of a row", async () => {
  const html = table(
    head,
    ["Ada", "Bach"].map((name) => `<tr><td>${name}<td>Rome<td>${link("Edit")} | ${link("Delete")}`),
  );
  expect((await find(html, "delete Bach"))[0]).toMatch(/^link "Delete" by "Bach/);
  expect(await click(html, "delete Bach")).toBe("Bach");
});

test("rows with links of their own are not listed", async () => {
  const rows = ["Ada", "Bob"].map(
    (name) => `<tr><td>${name}<td><a href=#>Mail ${name}</a><td><a href=#>Call ${name}</a>`,
  );
  expect(await dump(table(head, rows))).toEqual(['link: "Mail Ada" "Call Ada" "Mail Bob" "Call Bob"']);
});

test("headers count columns, over several rows of them, too", async () => {
  const spans = "<tr><th rowspan=2>Name<th colspan=2>Home<th rowspan=2>Act<tr><th>Street<th>City";
  const rows = ["Ada", "Bob"].map(
    (name) => `<tr><td>${name}<td>Main<td>Rome<td>${button("Edit")}${button("Delete")}`,
  );
  expect((await dump(table(`<thead>${spans}</thead>`, rows)))[0]).toBe(
    'row (Name | Street | City | Act) "Ada | Main | Rome"',
  );
  const one = "<tr><th>Name<th colspan=2>Home<th>Act";
  expect((await dump(table(one, rows)))[0]).toBe('row (Name | Home | Home | Act) "Ada | Main | Rome"');
});

test("a sign is said once for neighbours that share it, and is not a neighbour's label", async () => {
  const entry = (name: string) => `<li><span>${name}</span> <a href=#>Edit</a> <a href=#>Delete</a></li>`;
  expect(await dump(`<ul>${entry("Lamp")}${entry("Desk")}</ul>`)).toEqual([
    'group "Lamp"',
    'link: "Edit" "Delete"',
    'group "Desk"',
    'link: "Edit" "Delete"',
  ]);
});

test("what is seen keeps twins apart, also where several share it", async () => {
  const box = (colour: string) =>
    `<i onclick="0" style="display:inline-block;width:9px;height:9px;background:${colour}"></i>`;
  expect(await dump(["#171", "#4f4", "#4f4", "#bbd"].map(box).join(""))).toEqual([
    "clickable colour #117711",
    "clickable colour #44ff44 1 of 2",
    "clickable colour #44ff44 2 of 2",
    "clickable colour #bbbbdd",
  ]);
});
