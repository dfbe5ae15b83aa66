import { useContext, useEffect, useState } from "preact/hooks";
import { duration } from "./format.ts";
import { Paper } from "./shots.tsx";
import { Badge } from "./states.tsx";
import { type Step, StepDetails } from "./stepDetails.tsx";
import type { StepNode } from "./stepTree.ts";

type Node = StepNode<Step>;
/** `linkTo` gives the address of a step (from 1); the step `target` is opened and shown. `span` is the whole run's, in ms since the epoch. */
type Place = {
  linkTo(step: number): string;
  target?: number | undefined;
  span?: { from: number; total: number };
};

export const holds = ({ step, children }: Node, target: number | undefined): boolean =>
  target !== undefined && (step?.index === target - 1 || children.some((child) => holds(child, target)));

export const isGood = (status: string) => status === "passed" || status === "skipped";

export const StepList = ({ nodes, ...place }: { nodes: readonly Node[] } & Place) => (
  <ol class="steps">
    {nodes.map((node) => (
      <StepItem key={`${node.step?.index} ${node.label}`} node={node} {...place} />
    ))}
  </ol>
);

/** A step with its parts; open where something did not pass, or where the address leads. In the page, what is closed is not drawn. */
function StepItem({ node, ...place }: { node: Node } & Place) {
  const { step, children, status, label } = node;
  const { linkTo, target, span } = place;
  const isDrawn = useContext(Paper) !== undefined;
  const isTarget = step !== undefined && step.index + 1 === target;
  const [isOpen, setOpen] = useState(!isGood(status) || holds(node, target));
  useEffect(() => {
    if (holds(node, target)) setOpen(true);
  }, [target]);
  return (
    <li>
      <details
        id={step && isDrawn ? linkTo(step.index + 1).slice(1) : undefined}
        class={`step${isTarget ? " target" : ""}`}
        open={isOpen}
        onToggle={(event) => setOpen(event.currentTarget.open)}
      >
        <summary>
          <Badge status={status} />
          <span class="label">
            {label} {step && <span class="soft small">{whereOf(step)}</span>}
          </span>
          {span && <Track {...node} {...span} />}
          <span class="soft small">{duration(node.duration_ms)}</span>
        </summary>
        {(isOpen || isDrawn) && (
          <div class="body">
            {children.length > 0 && <StepList nodes={children} {...place} />}
            {step && <Body step={step} children={children} href={linkTo(step.index + 1)} />}
          </div>
        )}
      </details>
    </li>
  );
}

/** A part that did not pass says why by itself: the step above does not repeat it. */
function Body({ step, children, href }: { step: Step; children: readonly Node[]; href: string }) {
  const { error, finding, ...rest } = step;
  const isSaid = !children.every(({ status }) => isGood(status));
  return (
    <>
      <StepDetails step={isSaid ? rest : step} isBare={isSaid} />
      <p class="small">
        <a href={href}>Link to step {step.index + 1}</a>
      </p>
    </>
  );
}

const whereOf = ({ kind, path, label }: Step) => (path === "" || path === label ? kind : `${kind} · ${path}`);

/** When a step ran within its run. */
function Track(given: Pick<Node, "started_at" | "duration_ms"> & { from: number; total: number }) {
  const { started_at, duration_ms, from, total } = given;
  const left = Math.min(100, Math.max(0, ((Date.parse(started_at) - from) / total) * 100));
  const width = Math.min(100 - left, (duration_ms / total) * 100);
  return (
    <span class="track" aria-hidden="true">
      <i style={`left:${left.toFixed(1)}%;width:${width.toFixed(1)}%`} />
    </span>
  );
}
