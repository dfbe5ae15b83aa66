import { describe, expect, test } from "vitest";
import { objectIn } from "#agent-client/loop/history.ts";
import { toAgentPlan, toAgentResult, toVerification } from "#agent-client/planExecute/seedForms.ts";
import { analyzeByRule } from "#agent-client/planner/analyze.ts";
import { planIn } from "#agent-client/planner/answers.ts";
import { problemsIn } from "#agent-client/planner/check.ts";
import { planSchema } from "#agent-client/planner/plan.ts";

const read = (answer: object) => planIn(answer, "the task", 1);

describe("an answer's object", () => {
  test.each([
    ["alone", '{"a": 1}'],
    ["in a fence", 'Here:\n```json\n{"a": 1}\n```\nDone.'],
    ["between braces that are none of it", 'In {this} case: {"a": 1} and {that}.'],
    ["before another", '{"a": 1} {"b": 2}'],
  ])("%s", (_, text) => expect(objectIn(text)).toEqual({ a: 1 }));

  test.each([
    ["prose", "I would go to Home first."],
    ["half of it", '{"a": {"b": 1}, "c": '],
    ["a list", "[1, 2]"],
    ["thousands of braces", "{".repeat(50_000)],
  ])("%s has none", (_, text) => expect(objectIn(text)).toBeUndefined());

  test("braces in strings do not count", () => expect(objectIn('x {"a": "}\\"{"} y')).toEqual({ a: '}"{' }));
});

describe("the seeds' forms", () => {
  test("seed 004: steps run one after the other", () => {
    const plan = [
      { step: 1, command: "execute_navigation", params: { target_node: "home" }, description: "Go home" },
      { step: 2, command: "press_key", params: '{"key": "OK"}', description: "Press" },
    ];
    expect(read({ analysis: "a", feasible: true, plan })).toMatchObject({
      plan: {
        task: "the task",
        analysis: "a",
        steps: [
          { index: 1, objective: "Go home", depends_on: [] },
          { index: 2, params: { key: "OK" }, depends_on: [1] },
        ],
      },
    });
  });

  test.each([
    [
      "camel case from 0",
      {
        taskDescription: "other",
        steps: [
          { stepIndex: 0, objective: "A", toolNames: ["t"] },
          { stepIndex: 1, objective: "B", toolNames: ["t"], dependsOnSteps: [0] },
        ],
      },
    ],
    [
      "snake case",
      {
        steps: [
          { step_index: 1, objective: "A", tool_names: ["t"] },
          { step_index: 2, objective: "B", tool_names: ["t"], depends_on_steps: [1] },
        ],
      },
    ],
    [
      "the flow's short form",
      {
        steps: [
          { step: 1, objective: "A", tools: ["t"] },
          { step: 2, objective: "B", tools: ["t"], depends_on: [1] },
        ],
      },
    ],
    [
      "stepDependencies",
      {
        steps: [
          { stepIndex: 1, objective: "A", toolNames: ["t"] },
          { stepIndex: 2, objective: "B", toolNames: ["t"] },
        ],
        stepDependencies: { 2: [1] },
      },
    ],
  ])("seed 002 in %s", (_, answer) => {
    expect(read(answer)).toMatchObject({
      plan: {
        task: "the task",
        steps: [
          { index: 1, tools: ["t"], depends_on: [] },
          { index: 2, objective: "B", depends_on: [1] },
        ],
      },
    });
  });

  test("seconds become milliseconds", () => {
    const steps = [{ step: 1, objective: "A", tools: ["t"], timeout: 300 }];
    expect(read({ steps, estimated_duration: 1.5 })).toMatchObject({
      plan: { estimated_duration_ms: 1_500, steps: [{ timeout_ms: 300_000 }] },
    });
  });

  test.each([
    ["no steps", { analysis: "x" }, "steps"],
    ["a step without an objective", { steps: [{ step: 1 }] }, "objective"],
    ["500 steps", { plan: Array.from({ length: 500 }, () => ({ command: "press_key" })) }, "100"],
    ["a list in place of params", { plan: [{ command: "x", params: [1] }] }, "params"],
  ])("%s is a problem that names its place", (_, answer, place) => {
    expect(read(answer)).toMatchObject({ problems: [expect.stringContaining(place)] });
  });
});

describe("a plan's problems", () => {
  const lab = { tools: new Set(["look"]), devices: ["lab/box"], hasApp: true };
  const press = { objective: "Press", command: "press_key", depends_on: [] };
  test.each([
    [
      "a circle",
      [
        { ...press, index: 1, depends_on: [2] },
        { ...press, index: 2, depends_on: [1] },
      ],
      "wait for each other",
    ],
    ["an unknown dependency", [{ ...press, index: 1, depends_on: [9] }], "step 9"],
    [
      "one index twice",
      [
        { ...press, index: 1 },
        { ...press, index: 1 },
      ],
      "same index",
    ],
    ["an unknown tool", [{ index: 1, objective: "A", tools: ["fly"], depends_on: [] }], "TOOL_NOT_FOUND"],
    [
      "another device",
      [{ ...press, index: 1, params: { device_id: "lab/phone" } }],
      "lab/phone, which is not a device of this task",
    ],
    ["no steps", [], "no steps"],
  ])("%s", (_, steps, problem) => {
    const plan = planSchema.parse({ task: "t", steps });
    expect(problemsIn(plan, lab)).toEqual([expect.stringContaining(problem)]);
  });

  test("a device may be named without its host, and commands need an app", () => {
    const plan = planSchema.parse({
      task: "t",
      steps: [{ ...press, index: 1, params: { device_id: "box" } }],
    });
    expect(problemsIn(plan, lab)).toEqual([]);
    expect(problemsIn(plan, { ...lab, hasApp: false })).toEqual([
      expect.stringContaining("userinterface_name"),
    ]);
  });
});

test.each([
  ["Navigate to home and click replay", "ui_testing", ["NAVIGATION", "INTERACTION_TESTING"], "simple"],
  ["Generate Flutter login form", "code_gen", ["CODE_GENERATION", "CODE_EXECUTION"], "simple"],
  ["Read the battery", "sensors", ["SENSOR_READ"], "simple"],
  ["List the files", "file_operations", ["FILE_READ"], "simple"],
  ["go to A and then B, check C, press D; press E", "ui_testing", ["NAVIGATION"], "moderate"],
])("%s: what it needs, by rule", (task, domain, capabilities, complexity) => {
  expect(analyzeByRule(task)).toMatchObject({
    domain,
    complexity,
    capabilities: expect.arrayContaining(capabilities),
  });
});

test("words that say nothing leave the rule unsure", () => {
  expect(analyzeByRule("hm")).toBeUndefined();
});

describe("the seeds' records", () => {
  const plan = planSchema.parse({
    task: "t",
    estimated_duration_ms: 2_500,
    steps: [
      { index: 1, objective: "A", command: "press_key", timeout_ms: 1_000 },
      { index: 2, objective: "B", tools: ["look"], depends_on: [1] },
    ],
  });
  const verification = { task_complete: false, reasoning: "r", remaining_steps: [2], should_replan: true };
  const step = {
    ...{
      index: 1,
      version: 1,
      objective: "A",
      status: "failed" as const,
      tool_outputs: { press_key: { some_key: 1 } },
    },
    error: { code: "TOOL_FAILED", message: "broken" },
    ...{ completed_at: "2026-01-01T00:00:00.000Z", execution_time_ms: 1_500, retry_count: 2 },
  };
  const result = {
    ...{ task: "t", success: false, response: "r", executed_steps: [step], verification },
    ...{ execution_time_ms: 3_500, replans: 1, final_error: step.error },
  };

  test("in camel case and milliseconds", () => {
    expect(toAgentPlan(plan, "dart", 0)).toMatchObject({
      ...{
        taskDescription: "t",
        version: 1,
        createdAt: "1970-01-01T00:00:00.000Z",
        stepDependencies: { 1: [], 2: [1] },
      },
      steps: [
        { stepIndex: 1, toolNames: ["press_key"] },
        { toolNames: ["look"], dependsOnSteps: [1], reasoning: "" },
      ],
    });
    expect(toAgentResult(result, "dart")).toEqual({
      ...{ taskDescription: "t", success: false, response: "r", executionTime: 3_500, replans: 1 },
      finalError: "TOOL_FAILED: broken",
      executedSteps: [
        {
          ...{ stepIndex: 1, status: "failed", toolOutputs: { press_key: { some_key: 1 } }, retryCount: 2 },
          ...{ errorMessage: "TOOL_FAILED: broken", completedAt: step.completed_at, executionTime: 1_500 },
        },
      ],
    });
    expect(toVerification(verification, "dart")).toEqual({
      ...{ taskComplete: false, reasoning: "r", remainingSteps: [2], shouldReplan: true },
    });
  });

  test("in snake case and seconds", () => {
    expect(toAgentPlan(plan, "python", 0)).toMatchObject({
      ...{ task_description: "t", complexity: "simple", estimated_duration: 2.5 },
      steps: [{ step_index: 1, timeout: 1, tool_names: ["press_key"] }, { depends_on_steps: [1] }],
    });
    expect(toAgentResult(result, "python")).toMatchObject({
      execution_time: 3.5,
      executed_steps: [{ step_index: 1, execution_time: 1.5, tool_outputs: { press_key: { some_key: 1 } } }],
    });
    expect(toVerification(verification, "python")).toHaveProperty("task_complete", false);
  });

  test("a model that answers an AgentPlan of ours is read as the same plan", () => {
    expect(read({ ...toAgentPlan(plan, "python", 0) })).toMatchObject({
      plan: { steps: [{ index: 1 }, { depends_on: [1] }] },
    });
  });
});
