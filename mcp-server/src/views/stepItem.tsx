import { useEffect, useState } from "preact/hooks";
import { duration } from "./format.ts";
import { Badge } from "./states.tsx";
import { type Step, StepDetails } from "./stepDetails.tsx";
import type { StepNode } from "./stepTree.ts";

type Node = StepNode<Step>;
/** `linkTo` gives the address of a step (from 1); the step `target` is opened and shown. */
type Place = { linkTo(step: number): string; target?: number | undefined };

export const holds = ({ step, children }: Node, target: number | undefined): boolean =>
  target !== undefined && (step?.index === target - 1 || children.some((child) => holds(child, target)));

export const isGood = (status: string) => status === "passed" || status === "skipped";

/** A step with its parts; open where something did not pass, or where the address leads. What is closed is not drawn. */
export function StepItem({ node, linkTo, target }: { node: Node } & Place) {
  const { step, children, status, label } = node;
  const isTarget = step !== undefined && step.index + 1 === target;
  const [isOpen, setOpen] = useState(!isGood(status) || holds(node, target));
  useEffect(() => {
    if (holds(node, target)) setOpen(true);
  }, [target]);
  return (
    <li>
      <details
        class={`step${isTarget ? " target" : ""}`}
        open={isOpen}
        onToggle={(event) => setOpen(event.currentTarget.open)}
      >
        <summary>
          <Badge status={status} />
          <span class="label">
            {label} {step && <span class="soft small">{step.kind}</span>}
          </span>
          <span class="soft small">{duration(node.duration_ms)}</span>
        </summary>
        {isOpen && (
          <div class="body">
            {step && (
              <>
                <StepDetails step={step} />
                <p class="small">
                  <a href={linkTo(step.index + 1)}>Link to step {step.index + 1}</a>
                </p>
              </>
            )}
            {children.length > 0 && (
              <ol class="steps">
                {children.map((child) => (
                  <StepItem
                    key={`${child.step?.index} ${child.label}`}
                    node={child}
                    linkTo={linkTo}
                    target={target}
                  />
                ))}
              </ol>
            )}
          </div>
        )}
      </details>
    </li>
  );
}
