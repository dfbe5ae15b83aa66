import { useId, useMemo, useState } from "preact/hooks";
import { moment } from "../../views/format.ts";
import { Empty, Shown } from "../../views/states.tsx";
import { read } from "../shell/api.ts";
import { Part } from "../shell/detail.tsx";
import type { StoredEvent } from "../shell/notices.tsx";
import { usePolled } from "../shell/polled.ts";
import { addressOf } from "../shell/route.ts";

/** Both oldest first. */
type Minutes = { pictures: readonly { at: string; href: string }[]; events: readonly StoredEvent[] };

/** What a device showed in its last minutes, and what happened to it. */
export function LastMinutes({ id }: { id: string }) {
  const minutes = usePolled(
    id,
    async (signal): Promise<Minutes> => {
      const device = encodeURIComponent(id);
      const [{ pictures }, { events }] = await Promise.all([
        read<Pick<Minutes, "pictures">>(`devices/${device}/recent`, signal),
        read<Pick<Minutes, "events">>(`events?device=${device}&limit=20`, signal),
      ]);
      return { pictures, events };
    },
    3_000,
  );
  return (
    <Part title="Last minutes">
      <Shown of={minutes} what="the last minutes">
        {(found) => <Timeline {...found} />}
      </Shown>
    </Part>
  );
}

/** The newest picture until a time is chosen, by a picture or an event; then the last one that is not after it. */
function Timeline({ pictures, events }: Minutes) {
  const marks = useId();
  const [chosen, choose] = useState<string>();
  const newest = pictures.length - 1;
  const indexAt = (time: string) => pictures.findLastIndex(({ at }) => at <= time);
  const index = chosen === undefined ? newest : Math.max(0, indexAt(chosen));
  const shown = pictures[index];
  // A picture has another address each time that it is read, and is loaded once.
  const href = useMemo(() => shown?.href, [shown?.at]);
  return (
    <div class="split">
      {shown ? (
        <div class="stack">
          <div class="shot">
            <img src={href} alt={`What it showed at ${moment(shown.at)}`} />
          </div>
          <div class="row">
            <input
              type="range"
              class="grow"
              aria-label="Picture"
              aria-valuetext={moment(shown.at)}
              list={marks}
              max={newest}
              value={index}
              onInput={({ currentTarget: { valueAsNumber: to } }) =>
                choose(to === newest ? undefined : pictures[to]?.at)
              }
            />
            <datalist id={marks}>
              {events.map(({ id, at }) => indexAt(at) >= 0 && <option key={id} value={indexAt(at)} />)}
            </datalist>
            <button type="button" aria-pressed={chosen === undefined} onClick={() => choose(undefined)}>
              Newest
            </button>
          </div>
          <p class="soft small">
            Picture {index + 1} of {newest + 1}: {moment(shown.at)}
          </p>
        </div>
      ) : (
        <Empty>
          No pictures yet. Without video, it has those that its viewers, runs and screenshots took.
        </Empty>
      )}
      <div class="stack">
        {events.length === 0 && <Empty>Nothing has happened on this device yet.</Empty>}
        <ul class="log">
          {events.toReversed().map(({ at, ...event }) => (
            <li key={event.id}>
              <button
                type="button"
                disabled={indexAt(at) < 0}
                aria-pressed={chosen === at}
                onClick={() => choose(at)}
              >
                {moment(at)}
              </button>{" "}
              <What {...event} />
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

function What({ type, alert_id: alert, execution_id: run, payload }: Omit<StoredEvent, "at">) {
  const { name, status, message, reason } = payload;
  const text = [type, name, status, message, reason?.message].filter(Boolean).join(", ");
  if (alert !== undefined) return <a href={addressOf({ room: "alerts", id: alert })}>{text}</a>;
  return run === undefined ? text : <a href={addressOf({ room: "runs", id: run })}>{text}</a>;
}
