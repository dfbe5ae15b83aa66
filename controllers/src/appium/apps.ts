import { z } from "zod";
import type { AppSource, InstalledApp } from "../contract.ts";
import type { AppiumDevice } from "./device.ts";
import { answerAs } from "./failures.ts";

const androidApps = z.record(z.string(), z.object({ versionCode: z.number().nullish() }));
const text = z.string().max(1_000).optional();
const iosApps = z.record(
  z.string(),
  z.object({ CFBundleDisplayName: text, CFBundleName: text, CFBundleShortVersionString: text }),
);

/** The apps of a device, by `mobile: listApps`. An older driver on the server and a simulator of iOS refuse it. */
export const createApps = (device: AppiumDevice): AppSource => ({
  installedApps: async (signal) => ({
    apps: await (device.facts().platform === "android" ? listAndroid : listIos)(device, signal),
  }),
});

async function listAndroid(device: AppiumDevice, signal: AbortSignal): Promise<InstalledApp[]> {
  const apps = answerAs(androidApps, "listApps", await device.mobile("listApps", {}, signal));
  return Object.entries(apps).map(([id, { versionCode }]) => ({
    id,
    ...(typeof versionCode === "number" && { version: `${versionCode}` }),
  }));
}

/** Installed apps come before those of the system. */
async function listIos(device: AppiumDevice, signal: AbortSignal): Promise<InstalledApp[]> {
  const apps = new Map<string, InstalledApp>();
  for (const applicationType of ["User", "System"]) {
    const found = answerAs(iosApps, "listApps", await device.mobile("listApps", { applicationType }, signal));
    for (const [id, one] of Object.entries(found)) if (!apps.has(id)) apps.set(id, iosApp(id, one));
  }
  return [...apps.values()];
}

function iosApp(id: string, app: z.output<typeof iosApps>[string]): InstalledApp {
  const name = app.CFBundleDisplayName ?? app.CFBundleName;
  const version = app.CFBundleShortVersionString;
  return { id, ...(name !== undefined && { name }), ...(version !== undefined && { version }) };
}
