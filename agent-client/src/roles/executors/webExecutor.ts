import { z } from "zod";
import { callTyped, ToolFailure } from "../../mcp/calls.ts";
import { webRequestSchema } from "../../messages/contents.ts";
import { contentOf } from "../../messages/envelope.ts";
import type { Toolbox } from "../../ports.ts";
import type { Executor, ExecutorDeps, Job, Outcome } from "../executor.ts";
import { writesOf } from "../policy.ts";
import {
  inTurn,
  type Judging,
  notMine,
  outcomeOf,
  refused,
  sharedArgs,
  unsavedTest,
} from "./executeCases.ts";
import { hostsAt } from "./hosts.ts";
import { type CaseEnd, type CaseRun, ended } from "./runCase.ts";

/** Runs UI scenarios as test cases on the browsers of one host. It asks no model. */
export function webExecutor(host: string, deps: ExecutorDeps): Executor {
  const { run, load } = inTurn((job) => runWeb(host, job, deps));
  return {
    ...{ name: `web@${host}`, role: "web", run },
    async health(signal) {
      const found = (await hostsAt(deps.toolbox, signal)).find(({ name }) => name === host);
      if (!found) return { isUp: false, load: load(), reason: `there is no host ${host}` };
      const isUp = found.status === "online" && found.devices.length > 0;
      return { isUp, load: load(), reason: `${found.status}, ${found.devices.length} devices` };
    },
  };
}

/** What the policy judges of a request. */
export function judgedWeb({
  test_scenarios,
  target_urls,
  test_data,
}: z.output<typeof webRequestSchema>): Judging {
  const urls = target_urls.length > 0 ? target_urls : [""];
  const writes = test_scenarios.flatMap((one) => urls.flatMap((url) => writesOf(one, url)));
  return { scenarios: test_scenarios, writes, test_data };
}

async function runWeb(host: string, job: Job, deps: ExecutorDeps): Promise<Outcome> {
  const { message } = job;
  if (message.message_type !== "WebTestExecutionRequest") return notMine(message, "api");
  const content = contentOf(webRequestSchema, message, "payload");
  const { test_scenarios: scenarios, test_data, userinterface_name: app } = content;
  const names = content.browser_matrix.map((name) => name.toLowerCase());
  const planned = (names.length > 0 ? names : [undefined]).flatMap((browser) =>
    scenarios.map((scenario) => ({ scenario, browser })),
  );
  const denied = await refused(planned, judgedWeb(content), job, deps);
  if (denied) return denied;
  const places = await placesFor(names, host, deps.toolbox, job.signal);
  const args = { ...sharedArgs(message), ...(app !== undefined && { userinterface_name: app }) };
  const runs = places.flatMap((place) =>
    scenarios.map((scenario): CaseRun | CaseEnd => {
      const { browser } = place;
      const unsaved = unsavedTest(scenario, { app, test_data, message });
      if (!("missing" in place))
        return { scenario, browser, unsaved, isApi: false, args: { ...args, ...place.on } };
      const error = { case: scenario.id, code: "BROWSER_MISSING", message: place.missing };
      return ended({ scenario, browser }, "NOT_RUN", [{ ...error, severity: "medium" }]);
    }),
  );
  try {
    return await outcomeOf(runs, job, deps);
  } finally {
    for (const place of places) if ("on" in place && place.isOurs) await giveBack(place.on, deps.toolbox);
  }
}

/** `on`: the device, or the lease of a browser that was opened for it. */
type Place = { browser: string | undefined } & (
  | { on: { device_id?: string } | { session_id: string }; isOurs: boolean }
  | { missing: string }
);

/**
 * What each entry of the matrix runs on: the device of that name, else a further browser of that kind next to the first browser
 * of the host. A browser that is missing is reported, and never counted as passed.
 */
async function placesFor(
  names: readonly string[],
  host: string,
  toolbox: Pick<Toolbox, "call">,
  signal: AbortSignal,
): Promise<Place[]> {
  const hosts = await hostsAt(toolbox, signal);
  const devices = hosts.find(({ name }) => name === host)?.devices ?? [];
  const web = devices.filter(({ model }) => model === "web");
  const base = web.find(({ state }) => state.startsWith("free")) ?? web[0];
  const onDevice = (browser: string | undefined, device: typeof base): Place => ({
    ...{ browser, on: device ? { device_id: device.id } : {} },
    isOurs: device?.state.startsWith("free") ?? false,
  });
  if (names.length === 0) return [onDevice(undefined, base)];
  const places: Place[] = [];
  for (const browser of names) {
    const own = devices.find(({ id, model }) => id.split("/").at(-1) === browser || model === browser);
    const place = own ? onDevice(browser, own) : await opened(browser, base?.id, toolbox, signal);
    places.push(place);
  }
  return places;
}

const leaseSchema = z.object({ session_id: z.string() });

async function opened(
  browser: string,
  device_id: string | undefined,
  toolbox: Pick<Toolbox, "call">,
  signal: AbortSignal,
): Promise<Place> {
  if (device_id === undefined) return { browser, missing: "This host has no browser at all." };
  const use = { name: "take_control", input: { device_id, copy: { browser } } };
  try {
    const { session_id } = await callTyped(toolbox, use, leaseSchema, signal);
    return { browser, on: { session_id }, isOurs: true };
  } catch (error) {
    if (error instanceof ToolFailure) return { browser, missing: `${error.message} ${error.hint}`.trim() };
    throw error;
  }
}

const releaseMs = 60_000;

/** A device that was free is free again for others, and a browser that was opened is closed. */
async function giveBack(input: Record<string, unknown>, toolbox: Pick<Toolbox, "call">): Promise<void> {
  // What was not taken after all is an error of no interest.
  await toolbox.call({ name: "release_control", input }, { signal: AbortSignal.timeout(releaseMs) });
}
