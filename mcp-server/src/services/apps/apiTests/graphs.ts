import { createHash } from "node:crypto";
import { type Block, type Params, type TestCaseInput, testcaseSchema } from "../../../domain/index.ts";
import type { Ask, Planned } from "./types.ts";

/** A generated test case, and what each of its blocks is for. */
export type Generated = { testcase: TestCaseInput; asks: readonly Ask[]; operation: string };

/** Each request gets so long; a run has many. */
const timeoutMs = 15_000;
const longestLabel = 120;
/** What one expression may ask of, within its longest text. */
const mostInCondition = 40;

/** Unique where the parts are, also when they are too long for a name. */
export function nameOf(...parts: string[]): string {
  const text = parts.join(": ").replace(/\p{Cc}+/gu, " ");
  if (text.length <= longestLabel) return text;
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 8);
  return `${text.slice(0, longestLabel - hash.length - 1)} ${hash}`;
}

export function requestBlock(id: string, { label, request, checks }: Planned): Block {
  const block: Params = {
    ...{ id, type: "api_request", label: label.replace(/\p{Cc}+/gu, " ").slice(0, 300) },
    ...{ ...request, checks, follow_redirects: false, timeout_ms: timeoutMs },
  };
  // The schema of blocks gives it its type, and its defaults.
  return blockOf(block);
}

function blockOf(block: Params): Block {
  const [first] = testcaseSchema.shape.blocks.parse([block]);
  if (!first) throw new Error("A block was lost.");
  return first;
}

export const askOf = (planned: Planned, id: string): Ask => {
  const { request: _request, checks: _checks, ...rest } = planned;
  return { ...rest, id, block: requestBlock(id, planned) };
};

/** A rule over what the requests before it got; one without a fault is of the set-up. */
export const conditionOf = (
  id: string,
  expression: string,
  said: Omit<Ask, "id" | "block" | "kind">,
): Ask => ({
  ...said,
  id,
  kind: said.fault ? "rule" : "setup",
  block: blockOf({ id, type: "condition", label: said.label, expression }),
});

export type Head = { name: string; base: string; variables: Params };

function testcaseOf({ base, ...head }: Head, blocks: readonly Block[], edges: Params[]): TestCaseInput {
  const marker = (type: "start" | "success" | "failure") => ({ id: type, type });
  const hasFailure = edges.some(({ to }) => to === "failure");
  return testcaseSchema.parse({
    ...head,
    tags: ["api", "generated"],
    inputs: [{ name: "base_url", default: base }],
    blocks: [marker("start"), ...blocks, marker("success"), ...(hasFailure ? [marker("failure")] : [])],
    edges,
  });
}

/** Requests of which each needs the one before: the test ends at the first that fails. */
export function sequence(head: Head, operation: string, asks: readonly Ask[]): Generated {
  const ids = ["start", ...asks.map(({ id }) => id), "success"];
  const edges = ids.slice(1).map((to, at) => ({ from: ids[at], to }));
  return {
    testcase: testcaseOf(
      head,
      asks.map(({ block }) => block),
      edges,
    ),
    asks,
    operation,
  };
}

/** Requests of which each is made whatever became of the one before, after `before`, which must succeed. */
export function independent(
  head: Head,
  operation: string,
  { before, asks }: { before: readonly Ask[]; asks: readonly Ask[] },
): Generated {
  const verdicts = chunks(asks, mostInCondition).map((part, at) =>
    conditionOf(`verdict_${at + 1}`, part.map(({ id }) => `!has(${id}.output.curl)`).join(" && "), {
      ...{ label: "every reply was right", operation },
    }),
  );
  const needed = [...before, ...verdicts];
  const all = [...before, ...asks, ...verdicts];
  const ids = ["start", ...all.map(({ id }) => id), "success"];
  const edges = ids.slice(1).map((to, at) => ({ from: ids[at], to }));
  const anyway = asks.map(({ id }) => ({ from: id, to: ids[ids.indexOf(id) + 1], on: "failure" }));
  const bad = verdicts.map(({ id }) => ({ from: id, to: "failure", on: "failure" }));
  const blocks = all.map(({ block }) => block);
  return {
    testcase: testcaseOf(head, blocks, [...edges, ...anyway, ...bad]),
    asks: [...needed, ...asks],
    operation,
  };
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) =>
    items.slice(at * size, (at + 1) * size),
  );
}
