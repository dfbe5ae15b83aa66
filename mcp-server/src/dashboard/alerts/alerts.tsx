import { moment } from "../../views/format.ts";
import { Shots } from "../../views/shots.tsx";
import { Badge, Empty } from "../../views/states.tsx";
import { callForFiles, type LeftFile } from "../shell/api.ts";
import { type Action, Actions, Detail, FactsPart, Part } from "../shell/detail.tsx";
import { Listing } from "../shell/listing.tsx";
import { addressOf } from "../shell/route.ts";

type Alert = {
  alert_id: string;
  kind: string;
  state: "pending" | "active" | "resolved";
  triage?: string;
  triage_reason?: string;
  triaged_by?: string;
  device_id?: string;
  message: string;
  source: string;
  started_at: string;
  resolved_at?: string;
};
type AlertsReply = { alerts: Alert[]; more?: number };

const ask = (args: Record<string, unknown>, signal: AbortSignal) =>
  callForFiles<AlertsReply>("list_alerts", { ...args, max_tokens: 20_000 }, signal);

/** Open ones first, whatever their age; each part newest first. */
async function load(signal: AbortSignal) {
  const states = ["active", "pending", "resolved"];
  const replies = await Promise.all(states.map((state) => ask({ state }, signal)));
  const parts = replies.map(({ result }) => result);
  const [open, pending] = parts.map(({ alerts, more = 0 }) => alerts.length + more);
  return {
    items: parts.flatMap(({ alerts }) => alerts),
    more: parts.reduce((sum, { more = 0 }) => sum + more, 0),
    counts: { ...(open && { open }), ...(pending && { pending }) },
  };
}

const wordOf = (state: Alert["state"]) => (state === "active" ? "open" : state);

const stateOf = ({ state, triage }: Alert) => (
  <>
    <Badge status={wordOf(state)} /> {triage}
  </>
);
const deviceOf = ({ device_id: id }: Alert) =>
  id === undefined ? "" : <a href={addressOf({ room: "devices", id })}>{id}</a>;

/** What went wrong on devices and outside them. */
export const AlertList = () => (
  <Listing<Alert>
    room="alerts"
    load={load}
    everyMs={4_000}
    idOf={(alert) => alert.alert_id}
    nameOf={({ message }) => message}
    words={({ kind, device_id, source }) => [kind, device_id, source]}
    choices={{
      ...{ State: ({ state }) => [wordOf(state)], Kind: ({ kind }) => [kind] },
      ...{ Device: (alert) => [alert.device_id], Triage: ({ triage }) => [triage] },
    }}
    columns={{
      ...{ State: stateOf, Kind: ({ kind }) => kind, Device: deviceOf },
      Since: ({ started_at }) => moment(started_at),
    }}
    empty={
      <>
        No alerts. A device with <code>watch: true</code> raises them when its picture, sound or app fails.
      </>
    }
  />
);

export const AlertPage = ({ id }: { id: string }) => (
  <Detail
    room="alerts"
    id={id}
    every={5_000}
    load={async (signal) => {
      const { result, artifacts } = await ask({ alert_id: id }, signal);
      return { alert: result.alerts[0], frames: artifacts };
    }}
    nameOf={({ alert }) => alert?.message ?? "Alert"}
  >
    {({ alert, frames }, again) =>
      alert === undefined ? (
        <Empty>There is no such alert. Old ones are removed.</Empty>
      ) : (
        <>
          <Actions actions={actionsOf(alert)} done={again} />
          <div class="split">
            <Part title="Evidence">
              {frames.length === 0 && <Empty>This alert has no pictures.</Empty>}
              <Shots pictures={frames.map(pictureOf)} />
            </Part>
            <AlertFacts alert={alert} />
          </div>
        </>
      )
    }
  </Detail>
);

const captions: Readonly<Record<string, string>> = {
  ...{ start_frame: "When it began", end_frame: "When it ended" },
};

/** The signed address is a whole one of loopback; the page may have come by another name. */
function pictureOf({ name, link = "" }: LeftFile) {
  const { pathname, search } = new URL(link, location.href);
  return { uri: name, caption: captions[name] ?? name, href: pathname + search };
}

const AlertFacts = ({ alert }: { alert: Alert }) => (
  <FactsPart
    rows={[
      ["State", stateOf(alert)],
      ["Cause", alert.kind],
      ["Device", deviceOf(alert)],
      ["Since", moment(alert.started_at)],
      ["Until", alert.resolved_at === undefined ? "it goes on" : moment(alert.resolved_at)],
      ["Reported by", alert.source],
      ["Triaged by", alert.triaged_by ?? "no one yet"],
      ["Reason", alert.triage_reason ?? "none"],
    ]}
  />
);

function actionsOf({ alert_id, state, triage }: Alert): Action[] {
  const to = (action: string) => ({ tool: "update_alert", args: { alert_id, action } });
  return [
    ...(triage === undefined ? [{ label: "Acknowledge", isMain: true, ...to("acknowledge") }] : []),
    ...(triage === "confirmed" ? [] : [{ label: "It is a fault", ...to("confirm") }]),
    ...(state === "resolved"
      ? []
      : [{ label: "Resolve", ...to("resolve"), ask: "End this alert? It opens again if it is seen again." }]),
  ];
}
