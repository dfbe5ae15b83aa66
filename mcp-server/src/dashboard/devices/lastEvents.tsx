import { moment } from "../../views/format.ts";
import { Empty, Shown } from "../../views/states.tsx";
import { read } from "../shell/api.ts";
import { Part } from "../shell/detail.tsx";
import { Table } from "../shell/listing.tsx";
import type { StoredEvent } from "../shell/notices.tsx";
import { usePolled } from "../shell/polled.ts";
import { addressOf } from "../shell/route.ts";

/** What happened to a device, the newest first. */
export function LastEvents({ id }: { id: string }) {
  const path = `events?device=${encodeURIComponent(id)}&limit=20`;
  const events = usePolled(
    path,
    async (signal) => (await read<{ events: StoredEvent[] }>(path, signal)).events,
    () => 4_000,
  );
  return (
    <Part title="Last events">
      <Shown of={events} what="events">
        {(found) => (
          <>
            {found.length === 0 && <Empty>Nothing has happened on this device yet.</Empty>}
            <Table
              titles={["Time", "What"]}
              rows={found.toReversed().map((event) => [moment(event.at), <What {...event} />])}
            />
          </>
        )}
      </Shown>
    </Part>
  );
}

function What({ type, alert_id: alert, execution_id: run, payload }: StoredEvent) {
  const { name, status, message, reason } = payload;
  const text = [type, name, status, message, reason?.message].filter(Boolean).join(", ");
  if (alert !== undefined) return <a href={addressOf({ room: "alerts", id: alert })}>{text}</a>;
  return run === undefined ? text : <a href={addressOf({ room: "runs", id: run })}>{text}</a>;
}
