import { z } from "zod";
import { type Thing, textOf } from "./listings.ts";
import { notUnderstood, type OfflineAnswer, type Request, stop } from "./request.ts";
import type { Meaning } from "./words.ts";

/** The time that one call waits for the end of a run: hosts give up at 60 s. */
const waitMs = 45_000;
const understood: readonly Meaning[] = ["run", "small", "script", "testcase", "device"];
const compatibleSchema = z.object({ others: z.array(z.object({ id: z.string(), reason: z.string() })) });
const runSchema = z.object({ execution_id: z.string(), status: z.string() });
const rowSchema = z.object({ userinterface_name: z.string().optional() });

/** True of a run that has not ended. */
export const isOpen = ({ status }: { status: string }): boolean =>
  status === "running" || status === "queued";

/** Runs what an order names. Throws Settled, with orders to choose from, unless the order is whole and understood. */
export async function run(request: Request): Promise<OfflineAnswer> {
  if (request.says("not")) stop("Nothing was run: the request says not to.");
  const targets = request.found(request.runnables());
  const named = request.found(["device"]);
  const left = request.leftOver(understood, [...targets, ...named]);
  const ask = (orders: string[]) =>
    stop(
      notUnderstood(left, orders.length > 0 ? "What is to be run?" : "There is nothing that can be run."),
      orders,
    );
  const [target] = targets;
  if (!target || targets.length > 1) {
    const things = target ? targets : await request.all(...request.runnables());
    return ask(things.map((thing) => orderOf(thing, named.length === 1 ? named[0] : undefined)));
  }
  const devices = await devicesFor(request, target, named);
  const [device] = devices;
  if (!device || devices.length > 1 || left.length > 0 || !request.leads("run"))
    return ask(devices.map((one) => orderOf(target, one)));
  return runToEnd(request, target, device);
}

export const orderOf = ({ topic, value }: Thing, device?: Thing): string =>
  `Run the ${topic === "testcase" ? "test case" : topic} "${value}"${device ? ` on "${device.value}"` : ""}`;

/** The devices that can run the app of the target, among those that are named. Throws Settled when a named one cannot. */
async function devicesFor(
  request: Request,
  { row }: Thing,
  named: readonly Thing[],
): Promise<readonly Thing[]> {
  const devices = named.length > 0 ? named : await request.all("device");
  const { userinterface_name } = rowSchema.parse(row);
  if (userinterface_name === undefined) return devices;
  const { structured } = await request.call("get_compatible_hosts", { userinterface_name });
  const { others } = compatibleSchema.parse(structured);
  const misfit = others.find(({ id }) => named.some(({ value }) => value === id));
  if (misfit) stop(`${misfit.id} cannot run ${userinterface_name}: ${misfit.reason}.`);
  return devices.filter(({ value }) => !others.some(({ id }) => id === value));
}

/** Starts the run once, waits on by its id, and tells how it ended. */
async function runToEnd(request: Request, target: Thing, device: Thing): Promise<OfflineAnswer> {
  let text = "";
  const callRun = async (input: object) => {
    const result = await request.call(`execute_${target.topic}`, { ...input, wait_ms: waitMs });
    text = textOf(result);
    return runSchema.parse(result.structured);
  };
  let end = await callRun({ [target.topic]: target.value, device_id: device.value });
  const { execution_id } = end;
  for (let waited = waitMs; waited < request.given.timeoutMs && isOpen(end); waited += waitMs)
    end = await callRun({ execution_id });
  const head = `**${target.value} on ${device.value}**: ${end.status.toUpperCase()}\n${text}`;
  if (isOpen(end)) return { text: `${head}\nThe run goes on.`, outcome: "limit" };
  // A script's result names its report.
  const report = text.includes("report.html") ? "" : await reportOf(request, execution_id);
  return { text: `${head}${report}`, outcome: "done" };
}

/** A run has ended all the same when its report cannot be made. */
async function reportOf({ given }: Request, execution_id: string): Promise<string> {
  const result = await given.call({ name: "get_execution_report", input: { execution_id } });
  return `\nreport: ${result.structured?.report ?? `could not be made. ${textOf(result)}`}`;
}
