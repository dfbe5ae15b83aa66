import { cpSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadSkills, nextActions, nextState, startTree } from "@labwright/skills";
import { describe, expect, test } from "vitest";
import { shipmentFolder } from "../../fixtures/shipments.ts";
import { emptyFolder } from "../fixture.ts";
import { cause, evaluate, handoffOf, next, problemsOf, run, step, treeOf, treeText } from "./fixture.ts";

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);
/** At most as many problems of a file are reported. */
const most = 100;

describe("a hostile tree", () => {
  test.each([
    [
      "steps without a name",
      `entry_point: a\nsteps:\n${numbers(3_000)
        .map((at) => `  ${at}: 1`)
        .join("\n")}`,
    ],
    [
      "keys that it does not know",
      numbers(3_000)
        .map((at) => `k${at}: 1`)
        .join("\n"),
    ],
    [
      "steps that lead nowhere",
      treeText("s0", ...numbers(500).map((at) => step(`s${at}`, [next("d", "result.a == 1", `t${at}`)]))),
    ],
    [
      "conditions that read what is not there",
      treeText(
        "s0",
        ...numbers(90).map((at) =>
          step(`s${at}`, [cause("d", `[${numbers(90).map((of) => `steps.t${at}_${of}`)}] == []`, "It")]),
        ),
      ),
    ],
  ])("with %s has its first problems reported", (_, text) => {
    const problems = problemsOf(text);
    expect(problems.length).toBeGreaterThan(0);
    expect(problems.length).toBeLessThanOrEqual(most);
  });

  test("with SQL that opens a quote at each word is refused at the first", () => {
    const pieces = (sign: (at: number) => string) =>
      numbers(12).map((piece) =>
        JSON.stringify(
          numbers(2_000)
            .map((at) => sign(piece * 2_000 + at))
            .join(" "),
        ),
      );
    for (const sign of [(at: number) => `/*${at}`, (at: number) => `$a${at}$`]) {
      const mappings = `mappings: {}\nbuilders: { long: [${pieces(sign)}] }\n`;
      expect(problemsOf(treeText("a", step("a", [cause("d", "true", "It")])), mappings)).toEqual([
        expect.stringMatching(/the quote or comment that (\/\*|\$a0\$) opens is not closed/),
      ]);
    }
  });

  test("of a circle of 2,000 steps asks a person and goes no further", () => {
    const circle = numbers(2_000).map((at) =>
      step(`s${at}`, [next("on", "result.a == 1", `s${(at + 1) % 2_000}`)]),
    );
    const tree = treeOf(treeText("s0", ...circle), { stuck_after_steps: { max_steps: 100 } });
    const replies = Object.fromEntries(numbers(2_000).map((at) => [`s${at}`, { a: 1 }]));
    const state = run(tree, {}, replies);
    expect(nextActions(state)).toEqual([]);
    expect(handoffOf(state)?.trigger).toBe("stuck_after_steps");
    expect(state.history).toHaveLength(100);
  });

  test.each([
    `action: { type: tool, tool: get_execution_status, arguments: { a: [${numbers(5_000).map(() => '"{steps.a}"')}] } }`,
    `action: { type: tool, tool: get_execution_status, arguments: { a: "${"{steps.a.text}".repeat(5_000)}" } }`,
    `action: { type: http, source: shop, path: "/x${"/{steps.a.text}".repeat(5_000)}" }`,
    `action: { type: query, source: shop, query_template: "select '${"{steps.a.text}".repeat(1_000)}'" }`,
  ])("that puts a large result into an action many times asks a person: %.60s", (action) => {
    const steps = [step("a", [next("d", "true", "b")]), step("b", [cause("d", "true", "It")], [action])];
    const begun = startTree(treeOf(treeText("a", ...steps)), {}, { evaluate, at: 0 });
    const result = { value: { text: "x".repeat(900_000) } };
    const input = { type: "result", lane: "main", step: "a", result, at: 1 } as const;
    const state = nextState(treeOf(treeText("a", ...steps)), begun, input, evaluate);
    expect(nextActions(state)).toEqual([]);
    expect(handoffOf(state)?.question).toContain("more than 1000000 characters");
  });

  test("reads no field that an object only inherits", () => {
    const tree = treeOf(
      treeText(
        "a",
        step(
          "a",
          [cause("d", "true", "It")],
          [
            'action: { type: tool, tool: get_execution_status, arguments: { a: "{load.constructor.name}", b: "{__proto__.x}" } }',
          ],
        ),
      ),
    );
    expect(handoffOf(run(tree, { load: {} }, {}))?.question).toContain("load.constructor.name is missing");
  });
});

test.each([
  ["decision_tree.yaml", "/secret.yaml"],
  ["skill_definition.yaml", "/secret.yaml"],
  ["knowledge_base.md", "/secret.yaml"],
  ["prompts/analyze_results.txt", "/secret.yaml"],
  ["api_mappings.yaml", "/dev/zero"],
])("a skill whose %s is a link out of its folder is left out, and one to a neighbour is read", (name, target) => {
  const folder = emptyFolder();
  const outside = emptyFolder();
  cpSync(shipmentFolder, join(folder, "ocean_debugging"), { recursive: true });
  const file = join(folder, "ocean_debugging", name);
  const load = () => loadSkills(folder, new Set(["start_investigation", "resume_investigation"]));
  renameSync(file, join(folder, "shared"));
  symlinkSync(join(folder, "shared"), file);
  expect(load()).toMatchObject({ skills: [{ name: "ocean-debugging" }], problems: [] });

  writeFileSync(join(outside, "secret.yaml"), "password: 1");
  rmSync(file);
  symlinkSync(target === "/dev/zero" ? target : join(outside, target), file);
  const { skills, problems } = load();
  expect(skills).toEqual([]);
  expect(problems).toEqual([
    {
      file,
      line: 1,
      message: expect.stringMatching(/(it is not a file|^is a link that leads out of the folder)/),
    },
  ]);
});
