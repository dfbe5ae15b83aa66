import { longestWords } from "../../../domain/index.ts";
import type { Draft, Step } from "./types.ts";

type Labelled = { id: string; label?: string; type: string };
type Edge = { from: string; to: string; on?: "failure" };

/** Blocks that run one after the other; with `any` the first that passes is enough. */
export type Group<Block> = { blocks: readonly Block[]; any?: boolean | undefined };

/** Groups one after the other. Only an alternative has an edge for failure; any other failure ends the test. */
export function chain<Block extends Labelled>(groups: readonly Group<Block>[]) {
  const entryOf = (at: number) => groups[at]?.blocks[0]?.id ?? "success";
  const edges = groups.flatMap((group, at) => edgesOf(group, entryOf(at + 1)));
  const start = { id: "start", type: "start" };
  const success = { id: "success", type: "success" };
  const blocks: (Block | typeof start)[] = [start, ...groups.flatMap((group) => group.blocks), success];
  const first: Edge = { from: "start", to: entryOf(0) };
  return { blocks, edges: [first, ...edges] };
}

export function graphOf(steps: readonly Step[]): { blocks: Labelled[]; edges: Edge[] } {
  return chain(steps.map((step, at) => ({ blocks: blocksOf(step, `s${at + 1}`), any: step.any })));
}

function blocksOf({ said, drafts }: Step, id: string): Labelled[] {
  const label = said.slice(0, longestWords);
  return drafts.map((draft, part) => ({ id: drafts.length > 1 ? `${id}_${part + 1}` : id, label, ...draft }));
}

function edgesOf({ blocks, any }: Group<Labelled>, after: string): Edge[] {
  return blocks.flatMap(({ id }, part): Edge[] => {
    const next = blocks[part + 1]?.id;
    if (any !== true || next === undefined) return [{ from: id, to: next ?? after }];
    return [
      { from: id, to: after },
      { from: id, to: next, on: "failure" },
    ];
  });
}

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
