import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findSource, loadSkills, matchSkill, type Skill, tryCases } from "@labwright/skills";
import { expect, onTestFinished, test, vi } from "vitest";
import { watchUserSkills } from "#mcp-server/services/lab/userSkills.ts";
import { evaluateCondition, expressionProblem } from "#mcp-server/services/values/conditions.ts";
import { shipmentFolder } from "../../fixtures/shipments.ts";
import { aSkill, emptyFolder } from "../fixture.ts";

/** The words of seed 003 itself; the other files are those of the example. */
const definition = fileURLToPath(new URL("seed003.skill_definition.yaml", import.meta.url));
const tools = new Set(["start_investigation", "resume_investigation"]);

function seedFolder() {
  const folder = emptyFolder();
  const home = join(folder, "ocean_debugging");
  cpSync(shipmentFolder, home, { recursive: true });
  cpSync(definition, join(home, "skill_definition.yaml"));
  const edit = (file: string, from: string, to: string) => {
    const text = readFileSync(join(home, file), "utf8");
    expect(text).toContain(from);
    writeFileSync(join(home, file), text.replace(from, to));
  };
  return { folder, home, edit, load: () => loadSkills(folder, tools, expressionProblem) };
}

const one = (skills: readonly Skill[]): Skill => {
  const [skill] = skills;
  if (skill === undefined || skills.length > 1) throw new Error(`${skills.length} skills`);
  return skill;
};
const said = (problems: readonly { file: string; line: number; message: string }[]) =>
  problems.map(({ file, line, message }) => `${file.split("/").slice(-1)}:${line}: ${message}`);

test("a folder of seed 003 loads as it stands, and says that aws_iam is refused and what to do", () => {
  const { skills, problems } = seedFolder().load();
  expect(one(skills)).toMatchObject({
    ...{ name: "ocean-debugging", version: "1.0.0", owner: "Surya (Support Team)", status: "poc" },
    ...{ issue_categories: ["load_not_tracking", "eta_issues", "milestone_wrong"] },
    ...{ conditions: ["load.mode == 'OCEAN'"], tools: ["start_investigation", "resume_investigation"] },
    metrics: { target_time: "20 minutes", baseline_time: "40 minutes", expected_accuracy: "85%" },
    investigation: {
      tree: { entry_point: "step_1_network_relationship" },
      prompts: { analyze_results: expect.any(String) },
    },
  });
  expect(one(skills).triggers).toContain("awaiting tracking info");
  expect(findSource(one(skills).data_sources, "redshift")).toMatchObject({
    kind: "database",
    type: "postgres",
  });
  expect(findSource(one(skills).data_sources, "justtransform")).toMatchObject({ kind: "api" });
  expect(said(problems)).toEqual([
    expect.stringMatching(
      /^skill_definition\.yaml:58: data_sources\.redshift\.credentials: aws_iam .*env:NAME$/,
    ),
  ]);
});

test("a test case that expects another cause, answers nothing or lacks a result says so", async () => {
  const { load, home, edit } = seedFolder();
  edit(
    "test_cases/case_network_missing.yaml",
    "root_cause: Network relationship missing",
    "root_cause: Moon",
  );
  edit("test_cases/case_no_files.yaml", "  step_2_carrier_files: [{ files: 0, last_received: null }]\n", "");
  edit("test_cases/case_identifier_mismatch.yaml", "results:\n", "results:\n  step_9: []\n");
  writeFileSync(join(home, "test_cases/more.yaml"), "context: {}\nexpect: {}\n");
  writeFileSync(join(home, "test_cases/real.yaml"), "context: {}\nexpected: { root_cause: null }\n");
  const tried = await tryCases(home, one(load().skills), { evaluate: evaluateCondition });
  const lines = tried.flatMap(({ file, line, problems }) =>
    problems.map((message) => ({ file, line, message })),
  );
  expect(said(lines)).toEqual([
    "case_identifier_mismatch.yaml:4: results.step_9: the tree has no such step",
    'case_network_missing.yaml:1: root_cause: expected "Moon", found "Network relationship missing"',
    "case_no_files.yaml:1: results.step_2_carrier_files is missing, and the step ran",
    expect.stringContaining("case_no_files.yaml:1: root_cause: expected"),
    expect.stringContaining("case_no_files.yaml:1: confidence: expected"),
    expect.stringContaining("case_no_files.yaml:1: recommended_action: expected"),
    "more.yaml:1: expected: Invalid input: expected object, received undefined",
    "more.yaml:2: expect: is not a key of a test case; the nearest is expected",
    "real.yaml:1: has no results, so it needs the real sources",
  ]);
});

test("a broken tree leaves its skill out, with every problem of both files at its line", () => {
  const { load, edit } = seedFolder();
  edit("decision_tree.yaml", "next_step: step_2_carrier_files", "next_step: step_2_carrier_file");
  edit("decision_tree.yaml", "result.count == 0", "result.count ==");
  edit("decision_tree.yaml", "confidence: 0.90", "confidence: 90");
  edit("decision_tree.yaml", "- step_signoz_logs", "- step_signoz");
  edit("api_mappings.yaml", "LIMIT 100", "LIMIT $1");
  edit("api_mappings.yaml", "cache_ttl: 300\n", "cache_tll: 300\n");
  const { skills, problems } = load();
  expect(skills).toEqual([]);
  expect(said(problems).slice(1)).toEqual([
    expect.stringMatching(
      /^decision_tree\.yaml:\d+: steps\.step_1_network_relationship\.decisions\.relationship_inactive\.confidence/,
    ),
    expect.stringMatching(
      /^api_mappings\.yaml:\d+: mappings\.get_signoz_logs\.cache_tll: is not a key here$/,
    ),
  ]);
});

test("names that lead nowhere are problems with the nearest that is there", () => {
  const { load, edit } = seedFolder();
  edit("decision_tree.yaml", "next_step: step_2_carrier_files", "next_step: step_2_carrier_file");
  edit("decision_tree.yaml", "result.count == 0", "result.count ==");
  edit("decision_tree.yaml", "- step_signoz_logs", "- step_signoz_log");
  edit("decision_tree.yaml", "source: redshift", "source: redshif");
  edit("decision_tree.yaml", "mapping: get_signoz_logs", "mapping: get_signoz_log");
  edit("decision_tree.yaml", 'keyword: "{load.id}"', 'keyword: "{steps.step_2_carrier_file.row.id}"');
  edit("decision_tree.yaml", "result.rejected > 0", "result.rejected > steps.step_9.count");
  edit("api_mappings.yaml", "LIMIT 100", "LIMIT $1");
  edit("api_mappings.yaml", "item_type: log_record", "item_type: log_records");
  edit("skill_definition.yaml", '- "root_cause"', '- "root_cause"\n      - "root"');
  expect(said(load().problems)).toEqual([
    expect.stringMatching(/^skill_definition\.yaml:\d+: skill\.output_format\.fields\.1/),
  ]);
  edit("skill_definition.yaml", '\n      - "root"', "");
  expect(said(load().problems).slice(1)).toEqual([
    expect.stringMatching(
      /^decision_tree\.yaml:12: .*\.source: no data source is called redshif; the nearest is redshift$/,
    ),
    expect.stringMatching(/^decision_tree\.yaml:20: .*no_relationship\.condition: .*cannot be read/),
    expect.stringMatching(
      /^decision_tree\.yaml:42: .*no step is called step_2_carrier_file; the nearest is step_2_carrier_files$/,
    ),
    expect.stringMatching(
      /^decision_tree\.yaml:\d+: .*\.mapping: no mapping is called get_signoz_log; the nearest is get_signoz_logs$/,
    ),
    expect.stringMatching(
      /^decision_tree\.yaml:\d+: steps\.step_signoz_logs\.action: no step is called step_2_carrier_file;/,
    ),
    expect.stringMatching(/^decision_tree\.yaml:\d+: .*rejected\.condition: no step is called step_9/),
    expect.stringMatching(
      /^decision_tree\.yaml:\d+: parallel_checks\.0: no step is called step_signoz_log; the nearest is step_signoz_logs$/,
    ),
    expect.stringMatching(
      /^api_mappings\.yaml:\d+: .*no item type is called log_records; the nearest is log_record$/,
    ),
    expect.stringMatching(/^api_mappings\.yaml:\d+: builders\.signoz_query_builder: \$1 has no value here/),
  ]);
});

test("a condition that is not CEL leaves its skill out of a server too, once CEL is loaded", async () => {
  const { folder, edit } = seedFolder();
  edit("decision_tree.yaml", "result.count == 0", "result.count ==");
  const watch = watchUserSkills({ folder, knownTools: tools, reserved: new Set(), onProblems: () => {} });
  onTestFinished(() => watch.close());
  await vi.waitFor(() => expect(watch.investigating()).toEqual([]), { timeout: 20_000 });
  expect(watch.current()).toEqual([]);
  expect(said(watch.problems()).at(-1)).toMatch(/^decision_tree\.yaml:20: .*cannot be read/);
  edit("decision_tree.yaml", "result.count ==", "result.count == 0");
  await vi.waitFor(() => expect(watch.investigating()).toHaveLength(1), { timeout: 20_000 });
  expect(watch.current()).toEqual([expect.not.objectContaining({ investigation: expect.anything() })]);
});

test("a tree file that is missing, a second form of one skill and a folder of another name are problems", () => {
  const { load, home, edit } = seedFolder();
  rmSync(join(home, "decision_tree.yaml"));
  expect(said(load().problems)).toEqual([
    expect.stringContaining("aws_iam"),
    "skill_definition.yaml:78: decision_tree: decision_tree.yaml is not in the folder",
  ]);
  edit("skill_definition.yaml", 'id: "ocean_debugging"', 'id: "sea_debugging"');
  expect(said(load().problems)).toEqual([
    "skill_definition.yaml:2: skill.id: must be its folder's, ocean_debugging",
  ]);
  writeFileSync(join(home, "skill.yaml"), "");
  expect(said(load().problems)).toEqual([
    "skill.yaml:1: skill_definition.yaml describes this skill too; keep one of them",
  ]);
});

test("a flat file and a folder that is no skill are reported, and one that begins with _ is left alone", () => {
  const folder = emptyFolder();
  writeFileSync(join(folder, "my-skill.yaml"), "name: my-skill\n");
  for (const name of ["notes", "_drafts", ".git"]) mkdirSync(join(folder, name));
  expect(loadSkills(folder, tools).problems.map(({ file, message }) => [file, message])).toEqual([
    [join(folder, "my-skill.yaml"), "is not read: a skill is a folder; move it to my-skill/skill.yaml"],
    [join(folder, "notes"), expect.stringContaining("has no skill.yaml, so it is not a skill")],
  ]);
});

test("the conditions of a skill are asked of what the request is about", () => {
  const ocean = one(seedFolder().load().skills);
  const road = {
    ...aSkill({ name: "road", triggers: ["not tracking"] }),
    conditions: ["load.mode == 'ROAD'"],
  };
  const chosen = (request: string, context?: object) => {
    const subject = context && { context: { ...context }, evaluate: evaluateCondition };
    const match = matchSkill(request, [ocean, road], { subject });
    return match.kind === "match" ? match.skill.name : match.reason;
  };
  const question = "Why is load U123 not tracking?";
  expect(chosen(question)).toBe("it does not begin with a trigger");
  expect(chosen(question, { load: { mode: "OCEAN" } })).toBe("ocean-debugging");
  expect(chosen(question, { load: { mode: "ROAD" } })).toBe("road");
  expect(chosen(question, { load: {} })).toBe("it does not begin with a trigger");
  expect(chosen("not tracking", { load: {} })).toBe("it is a trigger of ocean-debugging and of road");
});
