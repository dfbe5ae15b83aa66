import type { AppSource, ControllerFacts, SensorSource } from "../src/index.ts";
import type { Connection } from "./connection.ts";
import { boxSpace } from "./picture.ts";
import { apps } from "./screens.ts";

export const boxFacts: ControllerFacts = {
  make: "Labwright simulated box",
  version: "1.0",
  screen: { width: boxSpace.width, height: boxSpace.height },
};

/** Made-up sensors of a set-top box that does not move. */
export function boxSensors(connection: Connection): SensorSource {
  return {
    async sensors(signal) {
      await connection.use(signal);
      const absent = "a set-top box on mains, standing still, has none";
      return {
        simulated: true,
        readings: [
          { name: "network.online", value: true },
          { name: "network.round_trip", value: 12, unit: "ms" },
          { name: "location.latitude", value: 48.8584, unit: "°" },
          { name: "location.longitude", value: 2.2945, unit: "°" },
          { name: "temperature", value: 41.5, unit: "°C" },
        ],
        absent: (["battery", "orientation", "accelerometer"] as const).map((name) => ({
          name,
          reason: absent,
        })),
      };
    },
  };
}

export function boxApps(connection: Connection): AppSource {
  return {
    async installedApps(signal) {
      await connection.use(signal);
      return { simulated: true, apps: apps.map(({ id, name }) => ({ id, name, version: "1.0" })) };
    },
  };
}
