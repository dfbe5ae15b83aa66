import { z } from "zod";
import { callTyped, ToolFailure } from "../../mcp/calls.ts";
import type { Toolbox } from "../../ports.ts";

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
export type Place = { browser?: string } & (
  | { on: Record<string, string>; isOurs: boolean }
  | { missing: string }
);

/**
 * What each entry of the matrix runs on: the device of that name, else a further browser of that kind next to the first browser
 * of the host. A browser that is missing is reported, and never counted as passed.
 */
export async function placesFor(
  browsers: readonly string[],
  host: string,
  toolbox: Tools,
  signal: AbortSignal,
): Promise<Place[]> {
  const hosts = await hostsAt(toolbox, signal);
  const devices = hosts.find(({ name }) => name === host)?.devices ?? [];
  const web = devices.filter(({ model }) => model === "web");
  const isFree = ({ state }: Host["devices"][number]) => state.startsWith("free");
  const base = web.find(isFree) ?? web[0];
  const placeOf = (device: typeof base) => ({
    on: device ? { device_id: device.id } : {},
    isOurs: device !== undefined && isFree(device),
  });
  if (browsers.length === 0) return [placeOf(base)];
  const places: Place[] = [];
  for (const browser of browsers) {
    const own = devices.find(({ id, model }) => id.split("/").at(-1) === browser || model === browser);
    const place = own ? placeOf(own) : await opened(browser, base?.id, toolbox, signal);
    places.push({ browser, ...place });
  }
  return places;
}

const leaseSchema = z.object({ session_id: z.string() });

async function opened(browser: string, device_id: string | undefined, toolbox: Tools, signal: AbortSignal) {
  if (device_id === undefined) return { missing: "This host has no browser at all." };
  const use = { name: "take_control", input: { device_id, copy: { browser } } };
  try {
    return { on: await callTyped(toolbox, use, leaseSchema, signal), isOurs: true };
  } catch (error) {
    if (error instanceof ToolFailure) return { missing: `${error.message} ${error.hint}`.trim() };
    throw error;
  }
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
