import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { chain, click, sees } from "../services/apps/testcases/testcaseBench.ts";

let product: Product;
let client: TestClient;
let uploads: string;
beforeAll(async () => {
  product = await openProduct("devices: [{ name: box, model: simulated }]");
  client = await product.connect();
  ({ uploads } = product.config.folders);
  await mkdir(uploads, { recursive: true });
});
afterAll(() => product.dispose());

/** Opens a screen and looks for its text; a row names both. */
const opens = (name: string, for_each: unknown, more: object = {}) => ({
  ...{ name, for_each, inputs: [{ name: "screen" }, { name: "text" }] },
  ...chain([
    { id: "home", type: "action", command: "press_key", params: { key: "HOME" } },
    click("open", "{{screen}}"),
    sees("look", "{{text}}"),
  ]),
  ...more,
});
const save = (testcase: object) => client.call("save_testcase", { testcase, replace: true });
const run = (testcase: string, more = {}) => client.call("execute_testcase", { testcase, ...more });
const report = async (execution_id: unknown, format: string) => {
  const { structured } = await client.call("get_execution_report", { execution_id, format });
  const uri = String(structured.report).replace("artifact://", "");
  return Buffer.from((await product.services.artifacts.get(uri)).bytes).toString("utf8");
};

test("each row is a run of its own, which every report names", async () => {
  await save(
    opens("listed", [
      { screen: "Movies", text: "All movies" },
      { screen: "Settings", text: "All movies" },
      { screen: "Settings", text: "Device settings" },
    ]),
  );
  const { structured } = await run("listed");
  expect(structured).toMatchObject({
    status: "failed",
    verified_count: 3,
    rows: { total: 3, passed: 2, not_passed: [{ row: "2 screen=Settings", status: "failed" }] },
    reason: { message: expect.stringContaining("1 of 3 rows did not pass; row 2 screen=Settings") },
  });
  const junit = await report(structured.execution_id, "junit");
  expect(junit).toContain('tests="3" failures="1"');
  for (const row of ["1 screen=Movies", "2 screen=Settings", "3 screen=Settings"])
    expect(junit).toContain(`name="listed [${row}]"`);
  const ctrf = JSON.parse(await report(structured.execution_id, "ctrf"));
  expect(
    ctrf.results.tests.map(({ name, status }: { name: string; status: string }) => [name, status]),
  ).toEqual([
    ["listed [1 screen=Movies]", "passed"],
    ["listed [2 screen=Settings]", "failed"],
    ["listed [3 screen=Settings]", "passed"],
  ]);
  expect(await report(structured.execution_id, "html")).toContain("listed [2 screen=Settings]");
});

test("a CSV file with quotes, line breaks, semicolons and a byte-order mark gives the rows", async () => {
  await writeFile(
    join(uploads, "screens.csv"),
    '\uFEFFnote;text;screen\r\n"two\r\nlines; ""quoted""";All movies;Movies\r\n\r\n;Device settings;Settings\r\n',
  );
  await save(opens("from csv", "screens.csv"));
  const { structured } = await run("from csv");
  expect(structured).toMatchObject({ status: "passed", rows: { total: 2, passed: 2, not_passed: [] } });
});

test("a JSON file and the app's own data give rows, and survive export and import", async () => {
  await writeFile(join(uploads, "screens.json"), '[{"screen":"Movies","text":"All movies"}]');
  await save(opens("from json", "screens.json"));
  expect((await run("from json")).structured).toMatchObject({ status: "passed", rows: { total: 1 } });
  const app = `format_version: 1
name: boxed
models: [simulated]
variables:
  screens: [{ screen: Movies, text: All movies }, { screen: Settings, text: Device settings }]
testcases: [${JSON.stringify(opens("of the app", "{{screens.filter(one, one.screen != 'Movies')}}"))}]
`;
  await client.call("import_userinterface", { yaml: app });
  expect((await run("of the app")).structured).toMatchObject({ status: "passed", rows: { total: 1 } });
  const { structured } = await client.call("export_userinterface", { userinterface_name: "boxed" });
  expect(structured.yaml).toContain("for_each");
  const again = await client.call("import_userinterface", { yaml: structured.yaml, replace: true });
  expect(again.structured).toMatchObject({ testcases: 1, replaced: true });
  expect((await client.call("export_userinterface", { userinterface_name: "boxed" })).structured).toEqual(
    structured,
  );
});

test.each([
  ["short.csv", "screen,text\nMovies,All movies\nSettings\n", 'row 2 (line 3) lacks the column "text"'],
  ["long.csv", "screen,text\nMovies,All movies,more\n", "row 1 (line 2) has 3 values"],
  ["typo.csv", "scren,text\nMovies,All movies\n", 'no row has the column "screen"; did you mean "scren"?'],
  ["twice.csv", "screen,text,text\na,b,c\n", 'has the column "text" twice'],
  ["quote.csv", 'screen,text\n"Movies,All movies\n', "quote.csv is not CSV"],
  ["empty.csv", "screen,text\n", "there is no row"],
  ["lack.json", '[{"screen":"a","text":"b"},{"screen":"c"}]', 'row 2 lacks the column "text"'],
  ["flat.json", '["a"]', "row 1 of flat.json is not an object"],
  ["broken.json", "[{", "broken.json is not JSON"],
])("%s is refused before anything runs, with the row and the column", async (file, text, message) => {
  await writeFile(join(uploads, file), text);
  await save(opens(`of ${file}`, file));
  const before = await client.call("get_execution_results", { name: `of ${file}` });
  const { error } = await run(`of ${file}`);
  expect(error).toMatchObject({ code: "INVALID_INPUT", message: expect.stringContaining(message) });
  const after = await client.call("get_execution_results", { name: `of ${file}` });
  expect(after.structured).toEqual(before.structured);
});

test("rows come from the uploads folder and nowhere else", async () => {
  await writeFile(join(product.config.data_dir, "outside.csv"), "screen,text\na,b\n");
  for (const file of ["../outside.csv", join(product.config.data_dir, "outside.csv"), "/etc/hosts.csv"]) {
    await save(opens("outside", file));
    expect((await run("outside")).error).toMatchObject({ code: "PATH_DENIED" });
  }
});

test("a cell that is not of its declared type is refused with row, column and what was found", async () => {
  await writeFile(join(uploads, "ages.csv"), "screen,text\nMovies,12\nMovies,old\n");
  await save(opens("typed", "ages.csv", { types: { text: "number" } }));
  expect((await run("typed")).error).toMatchObject({
    code: "INVALID_INPUT",
    message: expect.stringContaining(
      'row 2 (line 3), column "text": it is to be a number; found the text "old"',
    ),
  });
  const listed = opens("typed list", [{ screen: "Movies" }, { text: "a" }]);
  expect((await save(listed)).error).toMatchObject({
    code: "TESTCASE_INVALID",
    message: expect.stringContaining('row 1 lacks the column "text"'),
  });
});

const sleeping: Record<string, unknown> = { id: "home", type: "sleep", duration_ms: 600_000 };

test("cancelling the run of all rows cancels the row under way", async () => {
  const endless = opens("endless rows", [
    { screen: "Movies", text: "All movies" },
    { screen: "Settings", text: "All movies" },
  ]);
  endless.blocks.splice(1, 1, sleeping);
  await save(endless);
  const started = await run("endless rows", { wait_ms: 0 });
  const { execution_id } = started.structured;
  const cancelled = await client.call("cancel_execution", { execution_id });
  expect(cancelled.structured).toMatchObject({ status: "cancelled" });
  const { structured } = await client.call("get_execution_results", { status: "running" });
  expect(structured.counts).toEqual({});
});
