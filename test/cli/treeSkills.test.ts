import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { shipmentFolder } from "../fixtures/shipments.ts";
import { run, temporaryFolder } from "./fixtures.ts";

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const labwright = (...args: string[]) =>
  run(args, { env: { LABWRIGHT_DATA_DIR: folder.path }, cwd: folder.path });
const file = (...path: string[]) => join(folder.path, "skills", ...path);
const edit = (path: string, from: string | RegExp, to: string) => {
  const text = readFileSync(path, "utf8");
  expect(text).toMatch(from);
  writeFileSync(path, text.replace(from, to));
};

test("skills new --tree writes a skill that loads, says what each key is for, and passes its requests and its test cases", async () => {
  const made = await labwright("skills", "new", "find-cause", "--tree");
  expect(made).toMatchObject({ code: 0, err: "" });
  expect(readdirSync(file("find-cause"))).toEqual(
    expect.arrayContaining([
      "skill.yaml",
      "decision_tree.yaml",
      "api_mappings.yaml",
      "knowledge_base.md",
      "test_cases",
    ]),
  );
  const keys = readFileSync(file("find-cause", "skill.yaml"), "utf8")
    .split("\n")
    .flatMap((line, at, lines) => (/^[a-z_]+:/.test(line) ? [[line, lines[at - 1]]] : []));
  for (const [key, comment] of keys) if (!key?.startsWith("status")) expect(comment, key).toMatch(/^# /);
  expect((await labwright("skills", "list")).out).toMatch(/^find-cause +1\.0\.0 +you /m);
  const tested = await labwright("skills", "test", "find-cause");
  expect(tested).toMatchObject({ code: 0, err: "" });
  expect(tested.out).toMatch(/^find-cause +12 +0 +0\nfind-cause: 2 of 2 test cases right\n$/m);
});

test("skills test fails for a test case that finds another cause, and names its file, and says when there is none", async () => {
  await labwright("skills", "new", "find-cause", "--tree");
  edit(
    file("find-cause", "decision_tree.yaml"),
    "root_cause: The test never ran",
    "root_cause: Nobody ran it",
  );
  const { code, out } = await labwright("skills", "test");
  expect(code).toBe(1);
  expect(out).toContain("find-cause: 1 of 2 test cases right\n");
  expect(out).toContain(
    `${file("find-cause", "test_cases", "never_ran.yaml")}:1: root_cause: expected "The test never ran", found "Nobody ran it"\n`,
  );
  rmSync(file("find-cause", "test_cases"), { recursive: true });
  expect(await labwright("skills", "test")).toMatchObject({
    code: 0,
    out: expect.stringContaining("find-cause: no test case;"),
  });
});

test("skills list, skills test and doctor name the file and line of every part that does not load", async () => {
  mkdirSync(file(), { recursive: true });
  cpSync(shipmentFolder, file("ocean_debugging"), { recursive: true });
  edit(file("ocean_debugging", "decision_tree.yaml"), /entry_point: .*/, "entry_point: step_one");
  mkdirSync(file("empty-folder"));
  writeFileSync(file("my-skill.yaml"), "name: my-skill\n");
  const wanted = [
    /ocean_debugging\/decision_tree\.yaml:1: entry_point: no step is called step_one; the nearest is step_/,
    /empty-folder:1: has no skill\.yaml/,
    /my-skill\.yaml:1: is not read: a skill is a folder; move it to my-skill\/skill\.yaml/,
  ];
  const listed = await labwright("skills", "list");
  expect(listed.code).toBe(1);
  const examined = await labwright("doctor");
  for (const line of wanted) {
    expect(listed.err).toMatch(line);
    expect(examined.out).toMatch(line);
  }
  const tested = await labwright("skills", "test", "ocean-debugging");
  expect(tested.err).toMatch(/decision_tree\.yaml:1: /);
  expect(tested.err).not.toContain("my-skill");
  expect((await labwright("skills", "test", "my-skill")).err).toContain("my-skill.yaml:1: ");
});

test("a folder of seed 003 passes its test cases, and what is refused in it is told", async () => {
  mkdirSync(file(), { recursive: true });
  cpSync(shipmentFolder, file("ocean_debugging"), { recursive: true });
  const definition = file("ocean_debugging", "skill_definition.yaml");
  edit(definition, "env:SHIPMENT_DATABASE", "aws_iam");
  const refused = await labwright("skills", "test", "ocean-debugging");
  expect(refused).toMatchObject({
    code: 1,
    err: expect.stringMatching(/skill_definition\.yaml:33: .*aws_iam is not supported.*env:NAME\n$/),
  });
  edit(definition, "aws_iam", "env:REDSHIFT_URL");
  const tested = await labwright("skills", "test", "ocean-debugging");
  expect(tested).toMatchObject({ code: 0, err: "" });
  expect(tested.out).toMatch(/^ocean-debugging +\d+ +0 +0\nocean-debugging: 8 of 8 test cases right\n$/m);
});
