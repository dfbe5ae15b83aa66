import { z } from "zod";
import { type Thing, textOf } from "./listings.ts";
import { notUnderstood, type OfflineAnswer, type Request, stop } from "./request.ts";
import type { Meaning, Token } from "./words.ts";

/** The time that one call waits for the end of a run: hosts give up at 60 s. */
const waitMs = 45_000;
const understood: readonly Meaning[] = ["run", "small", "script", "testcase", "device", "app"];
const compatibleSchema = z.object({ others: z.array(z.object({ id: z.string(), reason: z.string() })) });
const runSchema = z.object({ execution_id: z.string(), status: z.string() });
type Run = { title: string; input: Record<string, unknown> & { device_id: string } };
const rowSchema = z.object({ userinterface_name: z.string().optional() });

/** True of a run that has not ended. */
export const isOpen = (status: string): boolean => status === "running" || status === "queued";

/** Runs what an order names. Throws Settled, with orders to choose from, unless the order is whole and understood. */
export async function run(request: Request): Promise<OfflineAnswer> {
  if (request.says("not")) stop("Nothing was run: the request says not to.");
  const named = request.found(["device"]);
  const target = await targetOf(request, named);
  // The app that is named is a script's `userinterface_name`; quoted texts that name nothing are its arguments.
  const isScript = target.topic === "script";
  const [app] = isScript ? request.found(["app"]) : [];
  const unnamed = request.leftOver(understood, [target, ...named, app]);
  const args = unnamed.filter(({ isQuoted }) => isScript && isQuoted);
  const left = unnamed.filter((token) => !args.includes(token));
  const appName = app?.value ?? rowSchema.parse(target.row).userinterface_name;
  const devices = await devicesFor(request, named, appName);
  const [device, another] = devices;
  // A quoted text may also be a device that is not there.
  const isWhole = left.length === 0 && (args.length === 0 || named.length > 0);
  if (!device || another || !isWhole || !request.leads("run")) {
    const more = [...args.map(({ raw }) => ` "${raw}"`), app && ` in the app "${app.value}"`].join("");
    const orders = devices.map((one) => orderOf(target, one, more));
    return ask(left, orders);
  }
  const input = {
    ...{ [target.topic]: target.value, device_id: device.value },
    ...(isScript && { args: args.map(({ raw }) => raw) }),
    ...(app && { userinterface_name: app.value }),
  };
  return runToEnd(request, `execute_${target.topic}`, { title: target.value, input });
}

/** The only script or test case that is named. Throws Settled without one. */
async function targetOf(request: Request, devices: readonly Thing[]): Promise<Thing> {
  const targets = request.found(request.runnables());
  const [target, another] = targets;
  if (target && !another) return target;
  const things = target ? targets : await request.all(...request.runnables());
  const device = devices.length === 1 ? devices[0] : undefined;
  const orders = things.map((thing) => orderOf(thing, device));
  return ask(request.leftOver(understood, [...targets, ...devices]), orders);
}

function ask(left: readonly Token[], orders: readonly string[]): never {
  const question = orders.length > 0 ? "What is to be run?" : "There is nothing that can be run.";
  return stop(notUnderstood(left, question), orders);
}

export const orderOf = ({ topic, value }: Thing, device?: Thing, more = ""): string =>
  `Run the ${topic === "testcase" ? "test case" : topic} "${value}"${more}${device ? ` on "${device.value}"` : ""}`;

/** The devices that can run the app, among those that are named. Throws Settled when a named one cannot. */
export async function devicesFor(request: Request, named: Thing[], app?: string): Promise<Thing[]> {
  const devices = named.length > 0 ? named : await request.all("device");
  if (app === undefined) return devices;
  const { structured } = await request.call("get_compatible_hosts", { userinterface_name: app });
  const { others } = compatibleSchema.parse(structured);
  const misfit = others.find(({ id }) => named.some(({ value }) => value === id));
  if (misfit) stop(`${misfit.id} cannot run ${app}: ${misfit.reason}.`);
  return devices.filter(({ value }) => !others.some(({ id }) => id === value));
}

/** Starts the run once, waits on by its id, and returns how it ended. */
export async function runToEnd(
  request: Request,
  tool: string,
  { title, input }: Run,
): Promise<OfflineAnswer> {
  const callRun = async (tool: string, call: object) => {
    const result = await request.call(tool, { ...call, wait_ms: waitMs });
    return { ...runSchema.parse(result.structured), text: textOf(result) };
  };
  let end = await callRun(tool, input);
  const { execution_id } = end;
  for (let waited = waitMs; waited < request.given.timeoutMs && isOpen(end.status); waited += waitMs)
    end = await callRun("get_execution_status", { execution_id });
  const text = `**${title} on ${input.device_id}**: ${end.status.toUpperCase()}\n${end.text}`;
  if (isOpen(end.status)) return { text: `${text}\nThe run goes on.`, outcome: "limit" };
  // A script's result names its report.
  if (end.text.includes("report.html")) return { text, outcome: "done" };
  // The run has ended all the same when its report cannot be made: this call does not throw.
  const report = await request.given.call({ name: "get_execution_report", input: { execution_id } });
  const said = report.structured?.report ?? `could not be made. ${textOf(report)}`;
  return { text: `${text}\nreport: ${said}`, outcome: "done" };
}
