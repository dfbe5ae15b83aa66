import { z } from "zod";
import { callTyped, ifFailed } from "../../mcp/calls.ts";
import type { Toolbox } from "../../ports.ts";
import type { Work } from "./work.ts";

type Tools = Pick<Toolbox, "call">;

const hostsSchema = z.object({
  hosts: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      devices: z.array(z.object({ id: z.string(), model: z.string(), state: z.string() })),
    }),
  ),
});
type Host = z.output<typeof hostsSchema>["hosts"][number];

export const hostsAt = async (toolbox: Tools, signal: AbortSignal): Promise<Host[]> =>
  (await callTyped(toolbox, { name: "list_hosts", input: {} }, hostsSchema, signal)).hosts;

/** Where cases run. `on`: arguments that name the device, or the lease of a browser that was opened for it. */
export type Place = { browser: string | undefined } & (
  | { on: Record<string, string>; isOurs: boolean }
  | { missing: string }
);

/**
 * What each entry of the matrix runs on: the device of that name, else a further browser of that kind next to the first browser
 * of the host. A browser that is missing is reported, and never counted as passed.
 */
export async function placesFor(
  browsers: Work["browsers"],
  host: string,
  toolbox: Tools,
  signal: AbortSignal,
): Promise<Place[]> {
  const hosts = await hostsAt(toolbox, signal);
  const devices = hosts.find(({ name }) => name === host)?.devices ?? [];
  const isFree = ({ state }: Host["devices"][number]) => state.startsWith("free");
  const web = devices.filter(({ model }) => model === "web");
  const base = web.find(isFree) ?? web[0];
  const places: Place[] = [];
  for (const browser of browsers) {
    const isOf = ({ id, model }: Host["devices"][number]) => [id.split("/").at(-1), model].includes(browser);
    const device = browser === undefined ? base : devices.find(isOf);
    if (device) places.push({ browser, on: { device_id: device.id }, isOurs: isFree(device) });
    else if (browser === undefined) places.push({ browser, on: {}, isOurs: false });
    else places.push({ browser, ...(await opened(browser, base?.id, toolbox, signal)) });
  }
  return places;
}

const leaseSchema = z.object({ session_id: z.string() });

async function opened(browser: string, device_id: string | undefined, toolbox: Tools, signal: AbortSignal) {
  if (device_id === undefined) return { missing: "This host has no browser at all." };
  const use = { name: "take_control", input: { device_id, copy: { browser } } };
  return callTyped(toolbox, use, leaseSchema, signal).then(
    (on) => ({ on, isOurs: true }),
    ifFailed(({ message, hint }) => ({ missing: `${message} ${hint}`.trim() })),
  );
}

const releaseMs = 60_000;

/** Devices that were free are free again for others, and browsers that were opened are closed. */
export async function giveBack(places: readonly Place[], toolbox: Tools): Promise<void> {
  for (const place of places)
    if ("on" in place && place.isOurs)
      // What was not taken after all is an error of no interest.
      await toolbox.call(
        { name: "release_control", input: place.on },
        { signal: AbortSignal.timeout(releaseMs) },
      );
}
