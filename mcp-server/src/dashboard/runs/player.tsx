import { useEffect } from "preact/hooks";
import type { RunView } from "../../domain/runView.ts";
import { duration } from "../../views/format.ts";
import { Shots } from "../../views/shots.tsx";
import { Badge } from "../../views/states.tsx";
import { pictureBefore, StepDetails } from "../../views/stepDetails.tsx";
import { addressOf, readRoute } from "../shell/route.ts";

/** One step of a run with its picture, or the last one before it. The arrow keys lead to the steps next to it. */
export function Player({ run, step }: { run: RunView; step: number }) {
  const { steps } = run;
  const go = (to: number) => {
    const next = Math.min(steps.length, Math.max(1, to));
    if (next !== step) location.replace(addressOf({ room: "runs", id: run.id, step: next }));
  };
  useEffect(() => {
    const onKey = ({ key, target, altKey, ctrlKey, metaKey }: KeyboardEvent) => {
      const isTyping = target instanceof Element && target.closest("input, select, textarea, pre, video");
      if (isTyping || altKey || ctrlKey || metaKey) return;
      // A key may come before the page has drawn the step of the one before.
      const at = readRoute(location.hash).step ?? step;
      if (key === "ArrowLeft") go(at - 1);
      if (key === "ArrowRight") go(at + 1);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  });
  const shown = steps[step - 1];
  if (!shown)
    return (
      <p class="note warn">
        Step {step} is not here. The run has {run.total} so far.
      </p>
    );
  const withPicture = steps.slice(0, step).findLast(({ pictures }) => pictures.length > 0);
  const last = withPicture?.pictures.at(-1);
  return (
    <section class="card" aria-label="Step by step">
      <div class="row">
        <button type="button" disabled={step === 1} onClick={() => go(step - 1)}>
          Previous
        </button>
        <input
          type="range"
          class="grow"
          aria-label="Step"
          min={1}
          max={steps.length}
          value={step}
          onInput={(event) => go(event.currentTarget.valueAsNumber)}
        />
        <button type="button" disabled={step === steps.length} onClick={() => go(step + 1)}>
          Next
        </button>
      </div>
      <div class="row" aria-live="polite">
        <h2>
          Step {step} of {run.total}: {shown.label}
        </h2>
        <Badge status={shown.status} />
        <span class="soft small">
          {shown.kind}, {duration(Date.parse(shown.started_at) - Date.parse(run.started_at))} after the start,
          took {duration(shown.duration_ms)}
        </span>
      </div>
      <div class="split">
        {withPicture && last ? (
          <div>
            {withPicture !== shown && <p class="soft small">Picture of step {withPicture.index + 1}</p>}
            <Shots
              pictures={[last]}
              area={shown.pictures.length === 1 ? shown.area : undefined}
              since={pictureBefore(withPicture)}
            />
          </div>
        ) : (
          <p class="empty">No picture yet.</p>
        )}
        <div class="stack">
          <StepDetails step={shown} isBare />
        </div>
      </div>
    </section>
  );
}
