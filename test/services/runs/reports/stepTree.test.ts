import { expect, test } from "vitest";
import type { Step } from "../../../../mcp-server/src/domain/index.ts";
import { type StepNode, stepTree } from "../../../../mcp-server/src/services/runs/reports/stepTree.ts";
import { step } from "./samples.ts";

const lines = (nodes: readonly StepNode[], depth = 0): string[] =>
  nodes.flatMap(({ label, status, children }) => [
    `${"  ".repeat(depth)}${label}${status === "passed" ? "" : `: ${status}`}`,
    ...lines(children, depth + 1),
  ]);

/** Paths in the order in which the steps end; the label of each is its place in that order. */
const treeOf = (...paths: [path: string, kind?: string, status?: Step["status"]][]) =>
  lines(
    stepTree(
      paths.map(([path, kind = "action", status = "passed"], at) =>
        step(at, { path, kind, status, label: `${at} ${path}` }),
      ),
    ),
  );

test("attempts and the set-up are groups, each as bad as the worst step in it", () => {
  expect(
    treeOf(
      ["attempt1/setup/open"],
      ["attempt1/look", "verification", "failed"],
      ["attempt2/setup/open"],
      ["attempt2/look", "verification"],
    ),
  ).toEqual([
    "attempt 1: failed",
    "  set-up",
    "    0 attempt1/setup/open",
    "  1 attempt1/look: failed",
    "attempt 2",
    "  set-up",
    "    2 attempt2/setup/open",
    "  3 attempt2/look",
  ]);
});

test("two walks keep their own legs, and a name that only begins alike is no parent", () => {
  expect(
    treeOf(["go", "navigation"], ["go", "navigation"], ["go2", "navigation"], ["go2", "navigation"], ["g"]),
  ).toEqual(["1 go", "  0 go", "3 go2", "  2 go2", "4 g"]);
});

test("the calls of a script stand under its block; steps without a path stay as they are", () => {
  expect(
    treeOf(["s/tool", "tool"], ["s/tool", "tool", "error"], ["s/script", "script"], ["s", "script"]),
  ).toEqual(["3 s", "  0 s/tool", "  1 s/tool: error", "  2 s/script"]);
  expect(treeOf(["", "navigation"], ["", "navigation"])).toEqual(["0 ", "1 "]);
});

test("rounds of a loop whose own step was never recorded stay in their order", () => {
  expect(treeOf(["loop[0]/look"], ["loop[1]/look"])).toEqual(["0 loop[0]/look", "1 loop[1]/look"]);
});
