import { moment } from "../../views/format.ts";
import { Badge, Facts, Problem, Shown } from "../../views/states.tsx";
import { callTool } from "../shell/api.ts";
import { useAttempt } from "../shell/attempt.ts";
import { type Polled, usePolled } from "../shell/polled.ts";
import { addressOf } from "../shell/route.ts";
import { LastMinutes } from "./lastMinutes.tsx";
import { LivePicture } from "./livePicture.tsx";
import { Recording } from "./recording.tsx";
import { type DeviceReply, holding } from "./replies.ts";

/** One device: its picture, its state with what to do about it, and who holds it. */
export function DevicePage({ id }: { id: string }) {
  const device = usePolled(
    id,
    async (signal) => (await callTool<DeviceReply>("get_device_info", { device_id: id }, signal)).result,
    () => 2_000,
  );
  return (
    <>
      <p>
        <a href={addressOf({ room: "devices" })}>All devices</a>
      </p>
      <h1>{id}</h1>
      <Shown of={device} what="the device">
        {(info) => (
          <>
            <div class="split">
              <LivePicture device={info} isHeld={holding(info.state).word === "yours"} />
              <div class="stack">
                <section class="card" aria-label="State">
                  <Control info={info} again={device.again} />
                  <State {...info} />
                </section>
                <Recording id={info.id} isHeld={holding(info.state).word === "yours"} />
              </div>
            </div>
            <LastMinutes id={info.id} />
          </>
        )}
      </Shown>
    </>
  );
}

/** Takes the device, gives it back, or takes it from its holder when that is confirmed. */
function Control({ info: { id, state }, again }: { info: DeviceReply; again: Polled<DeviceReply>["again"] }) {
  const { failure, isBusy, attempt } = useAttempt(again);
  const { word, holder, until } = holding(state);
  const call = (tool: string, args: Record<string, unknown> = {}) =>
    attempt(() => callTool(tool, { device_id: id, ...args }));
  return (
    <>
      <p class="row" aria-live="polite">
        <Badge status={word} />
        {until !== undefined && (
          <span>
            {holder !== undefined && <>held by {holder} </>}until {moment(until)}
          </span>
        )}
      </p>
      <div class="row">
        {word === "free" && (
          <button type="button" class="main" disabled={isBusy} onClick={() => call("take_control")}>
            Take control
          </button>
        )}
        {word === "yours" && (
          <button type="button" disabled={isBusy} onClick={() => call("release_control")}>
            Release
          </button>
        )}
        {word === "held" && (
          <button
            type="button"
            disabled={isBusy}
            onClick={() => {
              if (confirm(`Take ${id} from ${holder}? What it runs there ends, and it is notified.`))
                call("take_control", { force: true });
            }}
          >
            Take it from {holder}
          </button>
        )}
      </div>
      {failure && <Problem failure={failure} />}
    </>
  );
}

function State({ model, make, version, open, status, note, controllers, unavailable }: DeviceReply) {
  const known: [string, string | undefined][] = [
    ["Model", model],
    ["Make", make],
    ["Version", version],
    ["Controllers", controllers],
    ["Open", open ? "yes" : "no: it opens when it is used or watched"],
    ["Note", note],
  ];
  return (
    <>
      {status !== undefined && status !== "online" && <p class="note bad">{status}</p>}
      {unavailable.map(({ kind, driver, reason }) => (
        <p class="note warn" key={`${kind} ${driver}`}>
          {kind} ({driver}) cannot be used: {reason}
        </p>
      ))}
      <Facts
        rows={known.flatMap(([name, value]) =>
          value === undefined || value === "" ? [] : [[name, value] as const],
        )}
      />
    </>
  );
}
