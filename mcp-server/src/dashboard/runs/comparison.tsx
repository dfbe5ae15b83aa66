import { useState } from "preact/hooks";
import type { Comparison as Compared, StepView } from "../../domain/runView.ts";
import { duration, moment } from "../../views/format.ts";
import { Shots } from "../../views/shots.tsx";
import { Badge, Empty, Shown } from "../../views/states.tsx";
import { read } from "../shell/api.ts";
import { usePolled } from "../shell/polled.ts";
import { addressOf } from "../shell/route.ts";

/** A run compared with the last good run of its test; asked for when it is opened. */
export function Comparison({ id, isOpen: isOpenFirst }: { id: string; isOpen: boolean }) {
  const [isOpen, setOpen] = useState(isOpenFirst);
  return (
    <details class="card" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <h2>Compared with the last good run</h2>
      </summary>
      {isOpen && <Rows id={id} />}
    </details>
  );
}

function Rows({ id }: { id: string }) {
  const compared = usePolled(
    id,
    (signal) => read<Compared>(`executions/${encodeURIComponent(id)}/comparison`, signal),
    undefined,
  );
  return (
    <Shown of={compared} what="both runs">
      {({ good, facts, rows, alike, more }) =>
        good === undefined ? (
          <Empty>No earlier run of this test passed, so there is nothing to compare with.</Empty>
        ) : (
          <>
            <p>
              <a href={addressOf({ room: "runs", id: good.id })}>The good run</a> of {moment(good.started_at)}
              . {alike} {alike === 1 ? "step is" : "steps are"} alike, {rows.length + more} differ.
            </p>
            {facts.length > 0 && (
              <ul>
                {facts.map(([name, was, is]) => (
                  <li key={name}>
                    <strong>{name}</strong> was {was || "not set"}, now {is || "not set"}
                  </li>
                ))}
              </ul>
            )}
            <ol class="steps">
              {rows.map((row) => (
                <Row key={`${row.good?.index} ${row.now?.index}`} {...row} run={id} goodRun={good.id} />
              ))}
            </ol>
            {more > 0 && <p class="soft">{more} more steps differ.</p>}
          </>
        )
      }
    </Shown>
  );
}

function Row({ run, goodRun, ...row }: Compared["rows"][number] & { run: string; goodRun: string }) {
  const { good, now, differences, alike, first } = row;
  return (
    <li class={first ? "note bad" : "note warn"}>
      {alike > 0 && <p class="soft small">{alike} alike before it</p>}
      {first && <strong>The first difference</strong>}
      <ul>
        {differences.map(({ what, text }) => (
          <li key={what}>
            <strong>{what}</strong>: {text}
          </li>
        ))}
      </ul>
      <div class="shots">
        <Side title="Good run" step={good} run={goodRun} />
        <Side title="This run" step={now} run={run} since={good?.pictures.at(-1)} />
      </div>
    </li>
  );
}

function Side(given: {
  title: string;
  step: StepView | undefined;
  run: string;
  since?: StepView["pictures"][number] | undefined;
}) {
  const { title, step, run, since } = given;
  if (!step) return <p class="soft">{title}: no such step</p>;
  return (
    <div>
      <p>
        {title}: <a href={addressOf({ room: "runs", id: run, step: step.index + 1 })}>{step.label}</a>{" "}
        <Badge status={step.status} /> <span class="small">{duration(step.duration_ms)}</span>
      </p>
      <Shots pictures={step.pictures.slice(-1)} since={since} />
    </div>
  );
}
