import { moment } from "../../views/format.ts";
import { Badge, Empty, Shown } from "../../views/states.tsx";
import { usePolled } from "../shell/polled.ts";
import { addressOf } from "../shell/route.ts";
import { type Device, holding, listDevices } from "./replies.ts";

/** All devices with their holders and what is wrong with them. */
export function DeviceList() {
  const devices = usePolled("devices", listDevices, 3_000);
  return (
    <>
      <h1>Devices</h1>
      <Shown of={devices} what="devices">
        {(found) =>
          found.length > 0 ? (
            <ul class="cards">
              {found.map((device) => (
                <Card key={device.id} {...device} />
              ))}
            </ul>
          ) : (
            <Empty>
              No devices yet. Add some to labwright.yaml, or plug in a phone; <code>labwright doctor</code>{" "}
              says what is missing.
            </Empty>
          )
        }
      </Shown>
    </>
  );
}

function Card({ id, model, state, status, discovered }: Device) {
  const { word, holder, until } = holding(state);
  return (
    <li class="card">
      <div class="row">
        <h2>
          <a href={addressOf({ room: "devices", id })}>{id}</a>
        </h2>
        <Badge status={word} />
      </div>
      <p class="soft">
        {model}
        {discovered && ", found by itself"}
        {until !== undefined && `, ${holder === undefined ? "" : `held by ${holder} `}until ${moment(until)}`}
      </p>
      {status !== undefined && status !== "online" && <p class="note bad">{status}</p>}
    </li>
  );
}
