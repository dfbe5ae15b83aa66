import { expect, test } from "vitest";
import { between, type TaskEnd } from "./taskSide.ts";

const phase = (status: string, at: number, modelMs: number) => ({ status, at, modelMs });
const end: TaskEnd = {
  ...{
    result: {
      success: true,
      replans: 1,
      executed_steps: [],
      verification: { task_complete: true, reasoning: "" },
    },
  },
  phases: [
    phase("planning", 1, 0),
    phase("executing", 30, 10),
    phase("verifying", 50, 10),
    phase("replanning", 52, 10),
    phase("executing", 90, 25),
    phase("verifying", 95, 25),
    phase("done", 99, 25),
  ],
  totalMs: 100,
};

test("the time of a phase is that to the next one of the name, and knows the model's part of it", () => {
  expect(between(end, undefined, "executing")).toMatchObject({ at: 30, modelMs: 10 });
  expect(between(end, "executing", "verifying")).toMatchObject({ at: 20, modelMs: 0 });
  expect(between(end, "replanning", "executing")).toMatchObject({ at: 38, modelMs: 15 });
});

test("a phase that did not come is no time", () => {
  expect(() => between(end, "replanning", "planning")).toThrow("replanning");
  expect(() => between({ ...end, phases: [] }, "executing", "done")).toThrow("executing");
});
