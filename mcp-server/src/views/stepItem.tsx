import { useEffect, useRef, useState } from "preact/hooks";
import type { RunView } from "../domain/runView.ts";
import { duration } from "./format.ts";
import { Badge, Facts } from "./states.tsx";
import type { StepNode } from "./stepTree.ts";

type Step = RunView["steps"][number];
type Node = StepNode<Step>;
/** `linkTo` gives the address of a step (from 1), where steps have one; the step `target` is opened and shown. */
type Place = { linkTo?: ((step: number) => string) | undefined; target?: number | undefined };

const holds = ({ step, children }: Node, target: number | undefined): boolean =>
  target !== undefined && (step?.index === target - 1 || children.some((child) => holds(child, target)));

const isGood = (status: string) => status === "passed" || status === "skipped";

/** A step with its parts; open where something did not pass, or where the address leads. What is closed is not drawn. */
export function StepItem({ node, linkTo, target }: { node: Node } & Place) {
  const { step, children, status, label } = node;
  const isTarget = step !== undefined && step.index + 1 === target;
  const [isOpen, setOpen] = useState(!isGood(status) || holds(node, target));
  const place = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (holds(node, target)) setOpen(true);
    if (isTarget) place.current?.scrollIntoView({ block: "start" });
  }, [isTarget, target]);
  return (
    <li>
      <details
        ref={place}
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
            {step && <Details step={step} href={linkTo?.(step.index + 1)} />}
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

function Details({ step, href }: { step: Step; href: string | undefined }) {
  const { finding, error, notices = [], pictures, area, input, output } = step;
  return (
    <>
      {error && (
        <p class="note bad">
          <strong>{error.code}</strong> {error.message}
        </p>
      )}
      {finding && (
        <Facts
          rows={[
            ["Expected", finding.expected],
            ["Found", finding.found],
            ...(finding.nearest.length > 0 ? [["Nearest", finding.nearest.join("\n")] as const] : []),
          ]}
        />
      )}
      {notices.length > 0 && (
        <ul>
          {notices.map((notice) => (
            <li key={notice}>{notice}</li>
          ))}
        </ul>
      )}
      {pictures.length > 0 && (
        <div class="shots">
          {pictures.map((picture, at) => (
            <Shot key={picture.uri} {...picture} area={at === 0 ? area : undefined} />
          ))}
        </div>
      )}
      <Text title="Input" text={input} />
      <Text title="Output" text={output} />
      {href !== undefined && (
        <p class="small">
          <a href={href}>Link to step {step.index + 1}</a>
        </p>
      )}
    </>
  );
}

/** A picture, with a frame where a check saw what it judged. */
function Shot({ href, caption, area }: { href?: string | undefined; caption: string; area: Step["area"] }) {
  const [size, setSize] = useState<{ width: number; height: number }>();
  const [isGone, setGone] = useState(false);
  if (href === undefined || isGone)
    return (
      <p class="soft small">
        {caption}: this picture cannot be shown. Reload the page; old pictures are removed.
      </p>
    );
  return (
    <figure>
      <figcaption class="soft small">{caption}</figcaption>
      <a class="shot" href={href.startsWith("data:") ? undefined : href} target="_blank" rel="noreferrer">
        <img
          src={href}
          alt={caption}
          loading="lazy"
          onError={() => setGone(true)}
          onLoad={({ currentTarget: { naturalWidth: width, naturalHeight: height } }) =>
            setSize({ width, height })
          }
        />
        {area && size && (
          <svg viewBox={`0 0 ${size.width} ${size.height}`} aria-hidden="true">
            <rect x={area.x} y={area.y} width={area.width} height={area.height} />
          </svg>
        )}
      </a>
    </figure>
  );
}

const Text = ({ title, text }: { title: string; text: string | undefined }) =>
  text === undefined ? null : (
    <details>
      <summary class="soft small">{title}</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
      <pre tabIndex={0}>{text}</pre>
    </details>
  );
