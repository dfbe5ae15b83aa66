import type { Draft, Step } from "./types.ts";

type Block = { id: string; type: string; label?: string } & Record<string, unknown>;
type Edge = { from: string; to: string; on?: "failure" };

/** No longer than a label may be. */
const longestLabel = 120;

/**
 * The graph of steps one after the other. Nothing but an alternative hangs on a failure: without an edge for it a check
 * that does not hold ends the test as failed, and a device that does not answer as an error.
 */
export function graphOf(steps: readonly Step[]): { blocks: Block[]; edges: Edge[] } {
  const groups = steps.map((step, at) => blocksOf(step, `s${at + 1}`));
  const entryOf = (at: number) => groups[at]?.[0]?.id ?? "success";
  const edges = groups.flatMap((group, at) => edgesOf(group, steps[at]?.any === true, entryOf(at + 1)));
  return {
    blocks: [{ id: "start", type: "start" }, ...groups.flat(), { id: "success", type: "success" }],
    edges: [{ from: "start", to: entryOf(0) }, ...edges],
  };
}

function blocksOf({ said, drafts }: Step, id: string): Block[] {
  const label = said.slice(0, longestLabel);
  return drafts.map((draft, part) => ({ id: drafts.length > 1 ? `${id}_${part + 1}` : id, label, ...draft }));
}

function edgesOf(group: readonly Block[], isAny: boolean, after: string): Edge[] {
  return group.flatMap(({ id }, part): Edge[] => {
    const next = group[part + 1]?.id;
    if (!isAny || next === undefined) return [{ from: id, to: next ?? after }];
    return [
      { from: id, to: after },
      { from: id, to: next, on: "failure" },
    ];
  });
}

/** A sentence and what was made of it, in a line. */
export function describeStep({ said, drafts, any }: Step): string {
  return `${said} -> ${drafts.map(describeDraft).join(any ? " or " : ", ")}`;
}

function describeDraft(draft: Draft): string {
  switch (draft.type) {
    case "navigation":
      return `navigation ${draft.target}`;
    case "sleep":
      return `sleep ${draft.duration_ms} ms`;
    case "call_testcase":
      return `call_testcase ${draft.testcase}`;
    default: {
      const values = Object.entries(draft.params).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
      const negated = draft.type === "verification" && draft.negate ? "not " : "";
      return [`${negated}${draft.command}`, ...values].join(" ");
    }
  }
}
