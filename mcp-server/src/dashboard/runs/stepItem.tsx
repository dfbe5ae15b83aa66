import { useEffect, useState } from "preact/hooks";
import type { StepNode } from "../../services/runs/reports/stepTree.ts";
import { duration } from "../shell/format.ts";
import { addressOf } from "../shell/route.ts";
import { Badge } from "../shell/states.tsx";
import { type Step, StepDetails } from "./stepDetails.tsx";

type Node = StepNode<Step>;

export const holds = ({ step, children }: Node, target: number | undefined): boolean =>
  target !== undefined && (step?.index === target - 1 || children.some((child) => holds(child, target)));

export const isGood = (status: string) => status === "passed" || status === "skipped";

/** A step with its parts; open where something did not pass, or where the address leads. What is closed is not drawn. */
export function StepItem({ node, run, target }: { node: Node; run: string; target: number | undefined }) {
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
                  <a href={addressOf({ room: "runs", id: run, step: step.index + 1 })}>
                    Link to step {step.index + 1}
                  </a>
                </p>
              </>
            )}
            {children.length > 0 && (
              <ol class="steps">
                {children.map((child) => (
                  <StepItem
                    key={`${child.step?.index} ${child.label}`}
                    node={child}
                    run={run}
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
