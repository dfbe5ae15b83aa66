import type { DiscoveredDevice } from "../factory.ts";
import { pause } from "../waiting/deadlines.ts";
import { serverPort } from "./adb/server.ts";
import { probeFacts } from "./facts.ts";
import { type Attached, Hub } from "./hub.ts";
import { linkTo } from "./link.ts";
import { type AndroidSettings, serialOf } from "./settings.ts";

/** Retry interval for a device that did not answer, such as one that is still starting. */
const againMs = 5_000;

type Listener = (found: readonly DiscoveredDevice[]) => void;

/**
 * The devices that the adb server lists and can use, of a model by what they say they are. It starts no server, and connects
 * to no address. A device that is configured without a serial is the only one.
 */
export function discoverAndroid(configured: readonly AndroidSettings[], listener: Listener): () => void {
  const port = serverPort(undefined);
  const hub = Hub.at(port);
  const control = new AbortController();
  const hasOnly = configured.some((settings) => serialOf(settings) === undefined);
  /** By connection, which is never that of another device. */
  const models = new Map<number, string>();
  const asked = new Set<number>();
  let reported = "[]";
  const report = () => {
    const usable = hub.list().filter(({ state }) => state === "device");
    const found = hasOnly && hub.list().length < 2 ? [] : usable.flatMap((one) => foundAs(one));
    if (JSON.stringify(found) === reported) return;
    reported = JSON.stringify(found);
    listener(found);
  };
  const foundAs = ({ serial, connection }: Attached): DiscoveredDevice[] => {
    const model = models.get(connection);
    return model === undefined ? [] : [{ serial, model, settings: { serial } }];
  };
  const ask = async (device: Attached) => {
    asked.add(device.connection);
    try {
      const { isTv } = await probeFacts(linkTo({ port, hub }, device), control.signal);
      models.set(device.connection, isTv ? "android_tv" : "android_mobile");
      report();
    } catch {
      await pause(againMs, control.signal);
      asked.delete(device.connection);
      refresh();
    }
  };
  const refresh = () => {
    const listed = hub.list().filter(({ state }) => state === "device");
    for (const connection of models.keys())
      if (!listed.some((one) => one.connection === connection)) models.delete(connection);
    for (const device of listed) if (!asked.has(device.connection)) ask(device).catch(() => undefined);
    report();
  };
  const end = hub.watch(refresh);
  refresh();
  return () => {
    end();
    control.abort(new Error("The search for devices has ended."));
  };
}
