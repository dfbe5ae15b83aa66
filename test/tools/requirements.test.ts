import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { chain } from "../services/apps/testcases/testcaseBench.ts";

let product: Product;
let client: TestClient;
beforeAll(async () => {
  product = await openProduct("devices: [{ name: box, model: simulated }]");
  client = await product.connect();
});
afterAll(() => product.dispose());

const saveTestcase = (name: string, looksFor = "All movies") =>
  client.call("save_testcase", {
    replace: true,
    testcase: {
      name,
      ...chain([
        { id: "home", type: "action", command: "press_key", params: { key: "HOME" } },
        { id: "open", type: "action", command: "click_element", params: { selector: "Movies" } },
        {
          id: "look",
          type: "verification",
          command: "text_visible",
          params: { text: looksFor },
          timeout_ms: 0,
        },
      ]),
    },
  });
const create = (more = {}) => client.call("create_requirement", { name: "Opens a list", ...more });
const link = (requirement: unknown, testcase: string, more = {}) =>
  client.call("link_testcase_to_requirement", { requirement, testcase, ...more });

test("create_requirement numbers, get_requirement gives all of it, update_requirement changes a part", async () => {
  const made = await create({ category: "lists", acceptance_criteria: ["shows all movies"] });
  expect(made.structured).toMatchObject({ code: "REQ-001", name: "Opens a list" });
  const code = "REQ-001";
  expect(
    (await client.call("get_requirement", { requirement: made.structured.id })).structured,
  ).toMatchObject({
    code,
    description: "",
    priority: "P2",
    category: "lists",
    status: "active",
    acceptance_criteria: ["shows all movies"],
    linked: { full: 0, partial: 0 },
  });
  const changed = await client.call("update_requirement", {
    requirement: code,
    status: "draft",
    category: "",
  });
  expect(changed.structured).toMatchObject({ code, status: "draft", name: "Opens a list" });
  const { structured } = await client.call("get_requirement", { requirement: code });
  expect(structured).toMatchObject({ acceptance_criteria: ["shows all movies"], status: "draft" });
  expect(structured).not.toHaveProperty("category");
});

test("bad input is refused with what is wrong and the nearest", async () => {
  await create({ code: "PLAY-1" });
  expect((await create({ code: "PLAY-1" })).error).toMatchObject({ code: "ALREADY_EXISTS" });
  for (const bad of [
    { name: "" },
    { name: "  " },
    { name: "a\nb" },
    { name: "x".repeat(201) },
    { code: "a\u0000" },
    { priority: "P0" },
    { priority: 1 },
    { description: "x".repeat(10_001) },
    { acceptance_criteria: [""] },
    { acceptance_criteria: "one" },
    { category: "" },
    { titel: "x" },
  ])
    expect((await create(bad)).error, JSON.stringify(bad)).toMatchObject({ code: "INVALID_INPUT" });
  expect((await client.call("get_requirement", { requirement: "PLY-1" })).error).toMatchObject({
    code: "REQUIREMENT_NOT_FOUND",
    hint: expect.stringContaining("PLAY-1"),
    details: { nearest: expect.arrayContaining(["PLAY-1"]) },
  });
  expect((await client.call("get_requirement", { requirement: "zzz" })).error).toMatchObject({
    hint: "list_requirements shows all.",
  });
  for (const requirement of ["", "x".repeat(201), 7])
    expect((await client.call("get_requirement", { requirement })).error).toMatchObject({
      code: "INVALID_INPUT",
    });
  expect((await client.call("update_requirement", { requirement: "PLAY-1" })).error).toMatchObject({
    code: "INVALID_INPUT",
  });
  await saveTestcase("known");
  expect((await link("PLAY-1", "knwn")).error).toMatchObject({
    code: "TESTCASE_NOT_FOUND",
    hint: expect.stringContaining("known"),
  });
  expect((await link("PLAY-1", "known", { coverage: "half" })).error).toMatchObject({
    code: "INVALID_INPUT",
  });
  const nowhere = { requirement: "PLAY-1", userinterface_name: "nowhere" };
  expect((await client.call("get_requirement_coverage", nowhere)).error).toMatchObject({
    code: "USERINTERFACE_NOT_FOUND",
  });
});

test("list_requirements filters and is capped with an honest rest", async () => {
  for (let n = 1; n <= 9; n++) await create({ code: `LIST-${n}`, category: "many", priority: "P3" });
  const list = async (args: object) => (await client.call("list_requirements", { ...args })).structured;
  expect(await list({ category: "many", text: "list-3 OPENS" })).toEqual({
    requirements: [
      {
        code: "LIST-3",
        name: "Opens a list",
        priority: "P3",
        category: "many",
        status: "active",
        testcases: 0,
      },
    ],
  });
  expect(await list({ priority: "P1", category: "many" })).toEqual({ requirements: [] });
  const short = await list({ category: "many", max_tokens: 100 });
  expect([short.requirements].flat().length + Number(short.more)).toBe(9);
});

test("a requirement goes from uncovered to not run, to partial, to passed, and fails with its test case", async () => {
  await saveTestcase("opens movies");
  await saveTestcase("opens nothing", "No such text");
  await create({ code: "COVER" });
  const verdict = async (more = {}) =>
    (await client.call("get_requirement_coverage", { requirement: "COVER", ...more })).structured;
  expect(await verdict()).toMatchObject({ verdict: "uncovered", testcases: [] });
  const linked = await link("COVER", "opens movies", { coverage: "partial" });
  expect(linked.structured).toMatchObject({ requirement: "COVER", coverage: "partial", result: "linked" });
  expect(await verdict()).toMatchObject({ verdict: "not_run" });
  const run = (testcase: string) => client.call("execute_testcase", { testcase, environment: "staging" });
  const { execution_id } = (await run("opens movies")).structured;
  expect(await verdict()).toMatchObject({
    verdict: "partial",
    testcases: [{ testcase: "opens movies", status: "passed", execution_id }],
  });
  expect((await link("COVER", "opens movies")).structured).toMatchObject({ result: "changed" });
  expect(await verdict({ environment: "staging" })).toMatchObject({ verdict: "passed" });
  expect(await verdict({ environment: "prod" })).toMatchObject({ verdict: "not_run" });
  await link("COVER", "opens nothing");
  await run("opens nothing");
  expect(await verdict()).toMatchObject({
    verdict: "failed",
    parts: { full: 2, partial: 0, passed: 1, failed: 1, not_run: 0 },
    testcases: [{ testcase: "opens nothing", status: "failed" }, { testcase: "opens movies" }],
  });
  const ids = { requirement: "COVER", testcase: "opens nothing" };
  const unlinked = await client.call("unlink_testcase_from_requirement", ids);
  expect(unlinked.structured).toEqual({ ...ids, was_linked: true });
  const again = await client.call("unlink_testcase_from_requirement", ids);
  expect(again.structured).toEqual({ ...ids, was_linked: false });
  const of = await client.call("get_testcase_requirements", { testcase: "opens movies" });
  expect(of.structured).toMatchObject({ requirements: [{ code: "COVER", coverage: "full" }] });
});

test("get_coverage_summary counts, and get_uncovered_requirements names the gaps", async () => {
  await saveTestcase("half");
  for (const [code, priority] of [
    ["GAP-1", "P3"],
    ["GAP-2", "P1"],
  ])
    await create({ code, priority, category: "gaps" });
  await link("GAP-2", "half", { coverage: "partial" });
  const judged = await client.call("list_requirements", { category: "gaps", judged: true });
  expect(judged.structured).toMatchObject({
    requirements: [
      { code: "GAP-1", verdict: "uncovered" },
      { code: "GAP-2", verdict: "not_run" },
    ],
  });
  const { structured } = await client.call("get_coverage_summary");
  expect(structured.by_category).toContainEqual({
    category: "gaps",
    n: 2,
    uncovered: 1,
    not_run: 1,
    failed: 0,
    partial: 0,
    passed: 0,
    covered_percent: 50,
    passed_percent: 0,
  });
  expect(structured.no_category).toMatchObject({ n: expect.any(Number) });
  const gaps = await client.call("get_uncovered_requirements", { category: "gaps" });
  expect(gaps.structured).toMatchObject({
    no_link: 1,
    only_partial: 1,
    requirements: [
      { code: "GAP-2", covered: "only partial" },
      { code: "GAP-1", covered: "no" },
    ],
  });
});

test("the report of a run has a trace matrix when its test case has requirements", async () => {
  await saveTestcase("traced");
  const { execution_id } = (await client.call("execute_testcase", { testcase: "traced" })).structured;
  const report = async (format: string) => {
    const made = await client.call("get_execution_report", { execution_id, format });
    const { bytes } = await product.artifacts.get(String(made.structured.report).replace("artifact://", ""));
    return Buffer.from(bytes).toString("utf8");
  };
  expect(await report("html")).not.toContain("<h2>Requirements</h2>");
  await create({ code: "TRACE", name: "Is <traced>" });
  await link("TRACE", "traced");
  expect(await report("html")).toContain(
    `<tr><th scope="row"><b>TRACE</b> Is &lt;traced></th><td>traced</td><td>full</td><td><span class="badge good">passed</span></td><td>${execution_id}</td></tr>`,
  );
  expect(await report("junit")).not.toContain("TRACE");
});
