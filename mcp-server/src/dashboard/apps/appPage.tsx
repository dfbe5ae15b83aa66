import { useMemo, useState } from "preact/hooks";
import type { AppMap } from "../../domain/appMap.ts";
import { Empty } from "../../views/states.tsx";
import { devicesFor } from "../devices/replies.ts";
import { read } from "../shell/api.ts";
import { Detail } from "../shell/detail.tsx";
import { Choice } from "../shell/listing.tsx";
import { usePolled } from "../shell/polled.ts";
import { addressOf } from "../shell/route.ts";
import { Chosen, partsOfPlace, partsOfWay } from "./chosen.tsx";
import { AppMapView } from "./map.tsx";
import { firstOpen, nameOf, outlineOf } from "./outline.ts";
import { PlaceList } from "./placeList.tsx";

/** One app: its places and ways as a map or a list, and the one that is chosen. */
export const AppPage = ({ id }: { id: string }) => (
  <Detail<AppMap>
    {...{ room: "apps", id, every: 30_000, nameOf: ({ name }) => name }}
    load={(signal) => read(`apps/${encodeURIComponent(id)}/map`, signal)}
  >
    {(app, again) => <App app={app} again={again} />}
  </Detail>
);

function App({ app, again }: { app: AppMap; again(): void }) {
  const outline = useMemo(() => outlineOf(app), [app]);
  const [open, setOpen] = useState<ReadonlySet<string>>(() => firstOpen(outline));
  const [chosen, choose] = useState<string>();
  const [isMap, setMap] = useState(innerWidth > 640);
  const [device, setDevice] = useState("");
  const { value: devices = [] } = usePolled("devices", (signal) => devicesFor(app.id, signal), 10_000);
  const fold = (id: string) =>
    setOpen((now) => new Set(now.has(id) ? [...now].filter((one) => one !== id) : [...now, id]));
  const view = { outline, open, chosen, choose, fold };
  const on = { device: device || (devices[0] ?? ""), ended: again };
  const asked = { userinterface_name: app.id };
  const node = outline.nodes.get(chosen ?? "");
  const edge = outline.edges.find((one) => one.id === chosen);
  return (
    <>
      <div class="row">
        <button type="button" aria-pressed={isMap} onClick={() => setMap(true)}>
          Map
        </button>
        <button type="button" aria-pressed={!isMap} onClick={() => setMap(false)}>
          List
        </button>
        <Choice
          {...{ label: "Device", value: device, options: devices, choose: setDevice }}
          none={devices[0] ?? `none of ${app.models.join(", ")}`}
        />
        {on.device && <a href={addressOf({ room: "devices", id: on.device })}>Watch it</a>}
        <span class="soft">
          {app.nodes.length} places, {app.edges.length} ways
        </span>
      </div>
      {outline.nodes.size === 0 && <Empty>This app has no places yet.</Empty>}
      <div class="split">
        {isMap ? (
          <AppMapView {...view} />
        ) : (
          <section class="card" aria-label="Places">
            <PlaceList {...view} ids={outline.roots} />
          </section>
        )}
        <section class="card" aria-label="Chosen" aria-live="polite">
          {node && (
            <Chosen
              {...{ ...on, title: node.label, picture: node.picture, ways: { ...view, from: node.id } }}
              key={node.id}
              load={(signal) => partsOfPlace(node, asked, signal)}
            />
          )}
          {edge && (
            <Chosen
              {...{ ...on, title: nameOf(outline, edge) }}
              key={edge.id}
              load={(signal) => partsOfWay(edge, asked, signal)}
            />
          )}
          {!node && !edge && <p class="soft">Choose a place or a way to see its checks, and to go there.</p>}
        </section>
      </div>
    </>
  );
}
