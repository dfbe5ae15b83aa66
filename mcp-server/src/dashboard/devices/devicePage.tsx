import { moment } from "../../views/format.ts";
import { Badge, Facts, Unavailable } from "../../views/states.tsx";
import { callTool } from "../shell/api.ts";
import { type Action, Actions, Detail } from "../shell/detail.tsx";
import { LastMinutes } from "./lastMinutes.tsx";
import { LivePicture } from "./livePicture.tsx";
import { Recording } from "./recording.tsx";
import { type DeviceReply, holding } from "./replies.ts";

/** One device: its picture, its state with what to do about it, and who holds it. */
export const DevicePage = ({ id }: { id: string }) => (
  <Detail<DeviceReply>
    {...{ room: "devices", id, every: 2_000, nameOf: (info) => info.id }}
    load={(signal) => callTool("get_device_info", { device_id: id }, signal)}
  >
    {(info, again) => {
      const held = holding(info.state);
      const isHeld = held.word === "yours";
      return (
        <>
          <div class="split">
            <LivePicture device={info} isHeld={isHeld} />
            <div class="stack">
              <section class="card" aria-label="State">
                <p class="row" aria-live="polite">
                  <Badge status={held.word} />
                  {held.holder !== undefined && `held by ${held.holder} `}
                  {held.until !== undefined && `until ${moment(held.until)}`}
                </p>
                <Actions actions={actionsOf(id, held)} done={again} />
                <State {...info} />
              </section>
              <Recording id={info.id} isHeld={isHeld} />
            </div>
          </div>
          <LastMinutes id={info.id} />
        </>
      );
    }}
  </Detail>
);

/** Takes the device, gives it back, or takes it from its holder when that is confirmed. */
function actionsOf(id: string, { word, holder }: ReturnType<typeof holding>): Action[] {
  const take = { tool: "take_control", args: { device_id: id } };
  if (word === "free") return [{ ...take, label: "Take control", isMain: true }];
  if (word === "yours") return [{ ...take, label: "Release", tool: "release_control" }];
  const ask = `Take ${id} from ${holder}? What it runs there ends, and it is notified.`;
  return [{ ...take, label: `Take it from ${holder}`, args: { device_id: id, force: true }, ask }];
}

function State({ model, make, version, open, status, note, controllers, unavailable }: DeviceReply) {
  const known = {
    ...{ Model: model, Make: make, Version: version, Controllers: controllers },
    ...{ Open: open ? "yes" : "no: it opens when it is used or watched", Note: note },
  };
  return (
    <>
      {status !== undefined && status !== "online" && <p class="note bad">{status}</p>}
      <Unavailable of={unavailable} />
      <Facts rows={Object.entries(known).filter(([, value]) => value)} />
    </>
  );
}
