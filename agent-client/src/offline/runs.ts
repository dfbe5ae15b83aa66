import { z } from "zod";
import { type Runnable, runnable, type Thing, textOf } from "./listings.ts";
import { notUnderstood, type OfflineAnswer, type Request, stop } from "./request.ts";
import { type Meaning, means, type Token } from "./words.ts";

/** How long one call waits for the end of a run: hosts give up at 60 s. */
const waitMs = 45_000;
const meanings: readonly Meaning[] = ["run", "small", "script", "testcase", "device", "app", "report"];

const compatibleSchema = z.object({
  devices: z.array(z.object({ id: z.string() })),
  others: z.array(z.object({ id: z.string(), reason: z.string() })),
});
const runSchema = z.object({ execution_id: z.string(), status: z.string() });
const rowSchema = z.object({
  userinterface_name: z.string().optional(),
  inputs: z.array(z.string()).default([]),
});

/** Which of scripts and test cases the request speaks of; both when it says neither. */
export function kindsIn(request: Request): readonly Runnable[] {
  const said = runnable.filter((topic) => request.says(topic));
  return said.length > 0 ? said : runnable;
}

/** Runs what is named on the device that is named, or the only one that can. Asks unless all of the request is understood. */
export async function run(request: Request, isOrder: boolean): Promise<OfflineAnswer> {
  const kinds = kindsIn(request);
  const [devices = [], targets = []] = await request.find(["device"], kinds);
  const target =
    (await request.pick(targets, kinds, request.unknown(meanings))) ??
    request.ask(await request.all(...kinds), request.unknown(meanings));
  const row = rowSchema.parse(target.row);
  const mayNameApp = request.unknown(meanings).some(({ isQuoted }) => !isQuoted);
  const [apps = []] = mayNameApp ? await request.find(["app"]) : [];
  const app = request.one(apps)?.value ?? row.userinterface_name;
  const device = await deviceFor(request, app, request.one(devices));
  const isArgument = (token: Token) => isArgumentOf(target, row.inputs, token);
  const left = request.rest.filter(
    (token) => means(token, "condition") || request.unknown(meanings).includes(token),
  );
  const what = `${target.value} on ${device}`;
  confirm(request, what, { isOrder, left: left.filter((token) => !isArgument(token)) });
  return runToEnd(request, what, `execute_${target.topic}`, {
    ...{ [target.topic]: target.value, device_id: device },
    ...(app !== undefined && target.topic === "script" && { userinterface_name: app }),
    ...argumentsOf(target, left.filter(isArgument)),
  });
}

async function deviceFor(
  request: Request,
  app: string | undefined,
  named: Thing | undefined,
): Promise<string> {
  let possible = await request.all("device");
  if (app !== undefined) {
    const result = await request.call("get_compatible_hosts", { userinterface_name: app });
    const { devices, others } = compatibleSchema.parse(result.structured);
    const misfit = others.find(({ id }) => id === named?.value);
    if (misfit) stop(`${misfit.id} cannot run ${app}: ${misfit.reason}.`);
    possible = possible.filter(({ value }) => devices.some(({ id }) => id === value));
  }
  const device = named ?? request.one(possible);
  return device?.value ?? stop(`There is no device for ${app ?? "it"}.`);
}

/** Throws Settled unless it is to be run. */
function confirm(request: Request, what: string, given: { isOrder: boolean; left: readonly Token[] }): void {
  if (request.answered("not")) stop("Nothing was run.");
  if (request.answered("run") || (given.isOrder && given.left.length === 0)) return;
  stop(`${notUnderstood(given.left)} Run ${what}?`.trimStart(), ["Run it", "Do not run it"]);
}

/** Quoted texts are a script's arguments, `key=value` a test case's inputs that it has. */
const isArgumentOf = (
  { topic }: Thing,
  inputs: readonly string[],
  { isQuoted, isPlace, raw }: Token,
): boolean =>
  topic === "script" ? isQuoted && !isPlace : inputs.some((input) => raw.startsWith(`${input}=`));

function argumentsOf({ topic }: Thing, tokens: readonly Token[]): Record<string, unknown> {
  const args = tokens.map(({ raw }) => raw);
  if (args.length === 0) return {};
  if (topic === "script") return { args };
  return { inputs: Object.fromEntries(args.map((raw) => raw.split(/=(.*)/s))) };
}

/** Starts it once, waits on by its id, and tells how it ended. */
async function runToEnd(request: Request, what: string, tool: string, input: object): Promise<OfflineAnswer> {
  let text = "";
  const callRun = async (more: object) => {
    const result = await request.call(tool, { ...more, wait_ms: waitMs });
    text = textOf(result);
    return runSchema.parse(result.structured);
  };
  const isOpen = ({ status }: { status: string }) => status === "queued" || status === "running";
  let end = await callRun(input);
  const { execution_id } = end;
  for (let waited = waitMs; waited < request.given.timeoutMs && isOpen(end); waited += waitMs)
    end = await callRun({ execution_id });
  const head = `**${what}**: ${end.status.toUpperCase()}\n${text}`;
  if (isOpen(end)) return { text: `${head}\nThe run goes on.`, outcome: "limit" };
  // A script's result names its report. A run has ended all the same when its report cannot be made.
  const isNamed = text.includes("report.html");
  const report = isNamed ? "" : await reportOf(request, execution_id);
  return { text: `${head}${report}`, outcome: "done" };
}

async function reportOf({ given }: Request, execution_id: string): Promise<string> {
  const result = await given.call({ name: "get_execution_report", input: { execution_id } });
  return `\nreport: ${result.structured?.report ?? `could not be made. ${textOf(result)}`}`;
}

/** True of a request whose first word that counts is to run, or whose last one is, as in German. */
export const isRunOrder = ({ lead, tokens }: Request): boolean =>
  means(lead, "run") || (means(tokens.at(-1), "run") && !means(lead, "question", "show", "past"));
