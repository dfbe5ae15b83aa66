import type { Step } from "../domain/index.ts";

type Facts = Pick<Step, "label" | "status" | "started_at" | "duration_ms">;
/** What nesting needs of a step: the whole one of a report, and the view of the page. */
type Placed = Facts & Pick<Step, "path" | "kind">;

/** A step with those that it is made of, or a group of steps that no step stands for: a round, an attempt, the set-up. */
export type StepNode<S extends Placed = Step> = Facts & {
  step?: S;
  children: StepNode<S>[];
};

type Nested<S extends Placed> = { step: S; children: Nested<S>[] };

/** Each step below the one that it is a part of. A step is recorded when it ends, so its parts come right before it. */
export function stepTree<S extends Placed>(steps: readonly S[]): StepNode<S>[] {
  const roots: Nested<S>[] = [];
  for (const [at, step] of steps.entries()) {
    const isLastOfPath = steps[at + 1]?.path !== step.path;
    let from = roots.length;
    for (
      let before = roots[from - 1];
      before && isPart(before.step, step, isLastOfPath);
      before = roots[from - 1]
    )
      from -= 1;
    roots.push({ step, children: roots.splice(from) });
  }
  return grouped(roots, "");
}

/** The legs of a navigation have its own path, and it is the last step of that path. */
function isPart(inner: Placed, { path, kind }: Placed, isLastOfPath: boolean): boolean {
  if (path === "") return false;
  if (inner.path === path) return isLastOfPath && kind === "navigation" && inner.kind === "navigation";
  return inner.path.startsWith(`${path}/`) || inner.path.startsWith(`${path}[`);
}

const groupName = /^(?:\[(\d+)\]|attempt(\d+)|setup)\//;

/** Puts neighbours of one round, attempt or set-up into a group; `base` is the part of their paths that is above them. */
function grouped<S extends Placed>(nodes: readonly Nested<S>[], base: string): StepNode<S>[] {
  const groups: { name: RegExpExecArray | undefined; nodes: Nested<S>[] }[] = [];
  for (const node of nodes) {
    const name = groupName.exec(node.step.path.slice(base.length)) ?? undefined;
    const last = groups.at(-1);
    if (name && last?.name?.[0] === name[0]) last.nodes.push(node);
    else groups.push({ name, nodes: [node] });
  }
  return groups.flatMap(({ name, nodes: own }) =>
    name
      ? [groupOf(labelOf(name), grouped(own, base + name[0]))]
      : own.map(({ step, children }) => ({ ...factsOf(step), step, children: grouped(children, step.path) })),
  );
}

const factsOf = ({ label, status, started_at, duration_ms }: Facts) => ({
  label,
  status,
  started_at,
  duration_ms,
});

const labelOf = ([, round, attempt]: RegExpExecArray) =>
  round !== undefined
    ? `round ${Number(round) + 1}`
    : attempt !== undefined
      ? `attempt ${attempt}`
      : "set-up";

const worstFirst = ["error", "timeout", "failed", "cancelled"] as const;

function groupOf<S extends Placed>(label: string, children: StepNode<S>[]): StepNode<S> {
  return {
    label,
    status: worstFirst.find((status) => children.some((child) => child.status === status)) ?? "passed",
    started_at: children[0]?.started_at ?? "",
    duration_ms: children.reduce((sum, child) => sum + child.duration_ms, 0),
    children,
  };
}
