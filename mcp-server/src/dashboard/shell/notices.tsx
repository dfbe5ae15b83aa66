import { useState } from "preact/hooks";
import { listDevices } from "../devices/replies.ts";
import { read, startedRuns } from "./api.ts";
import { usePolled } from "./polled.ts";
import { addressOf } from "./route.ts";

/** One event of `GET /events`. */
export type StoredEvent = {
  id: number;
  type: string;
  at: string;
  device_id?: string;
  alert_id?: string;
  execution_id?: string;
  payload: { name?: string; message?: string; status?: string; reason?: { code: string; message: string } };
};
/** `cause` is the same for what has one fault. */
type Notice = { cause: string; text: string; href: string; isQuestion?: boolean };
type Question = { id: string; from: string; text: string };
type News = { next: number; lost: ReadonlyMap<string, string>; notices: readonly Notice[] };

/** The newest causes. What is older is in the rooms. */
const most = 5;

/** New faults, one line for each cause until it is dismissed. A screen reader reads each line once. */
export function Notices() {
  const [dismissed, setDismissed] = useState<readonly Notice[]>([]);
  const news = usePolled("notices", load, 4_000);
  const shown = news.value?.notices.filter((notice) => !dismissed.includes(notice)) ?? [];
  return (
    <div class="stack" role="log" aria-label="Notifications">
      {shown.slice(-most).map((notice) => (
        <p key={notice.cause} class={`note row ${notice.isQuestion ? "warn" : "bad"}`}>
          <a href={notice.href}>{notice.text}</a>
          <button type="button" onClick={() => setDismissed([...dismissed, notice])}>
            Dismiss
          </button>
        </p>
      ))}
    </div>
  );
}

async function load(signal: AbortSignal, before: News | undefined): Promise<News> {
  const path = `events?after=${before?.next ?? "latest"}&limit=1000`;
  const [{ events, next }, { questions }, devices] = await Promise.all([
    read<{ events: StoredEvent[]; next: number }>(path, signal),
    read<{ questions: Question[] }>("agent/questions", signal),
    listDevices(signal),
  ]);
  const lost = new Map(
    devices.flatMap(({ id, status = "online" }) => (status === "online" ? [] : [[id, status]])),
  );
  const newlyLost = [...lost].filter(([id]) => before?.lost.has(id) === false);
  const asked = new Map(questions.map(ofQuestion).map((notice) => [notice.cause, notice]));
  const kept = before?.notices.filter(({ cause, isQuestion }) => !isQuestion || asked.has(cause)) ?? [];
  for (const { cause } of kept) asked.delete(cause);
  const found = [...newlyLost.map(ofDevice), ...events.flatMap(ofEvent), ...asked.values()];
  const byCause = new Map([...kept, ...found].map((notice) => [notice.cause, notice]));
  return { next, lost, notices: [...byCause.values()] };
}

const ofQuestion = ({ id, from, text }: Question): Notice => {
  const href = addressOf({ room: "agents" });
  return { cause: `question ${id}`, text: `${from} asks: ${text}`, href, isQuestion: true };
};

const ofDevice = ([id, status]: [string, string]): Notice => {
  const href = addressOf({ room: "devices", id });
  return { cause: `device ${id}`, text: `${id}: ${status}`, href };
};

/** A run that could not use its device has the device's fault. */
function ofEvent({ type, device_id = "", alert_id, execution_id: run = "", payload }: StoredEvent): Notice[] {
  const { name = "", message = "", status = "", reason } = payload;
  if (alert_id !== undefined) {
    if (type === "alert.resolved" || type === "alert.triaged") return [];
    const text = [device_id, message].filter(Boolean).join(": ");
    return [{ cause: `${type} ${device_id}`, text, href: addressOf({ room: "alerts", id: alert_id }) }];
  }
  if (!startedRuns.has(run) || status === "passed" || status === "cancelled") return [];
  const cause = reason?.code.startsWith("DEVICE_") ? `device ${device_id}` : `run ${name}`;
  return [{ cause, text: `${name}: ${status}`, href: addressOf({ room: "runs", id: run }) }];
}
