import { z } from "zod";
import type { ToolCall } from "../ports.ts";
import type { RunPlan } from "./plans.ts";
import { type OfflineAnswer, type Request, Settled, textOf } from "./request.ts";
import { isArgument, ordersIn, type Token } from "./words.ts";

type Input = ToolCall["input"];

/** How long one call waits for the end of a run: hosts give up at 60 s. */
const waitMs = 45_000;

const compatibleSchema = z.object({
  devices: z.array(z.object({ id: z.string() })),
  others: z.array(z.object({ id: z.string(), reason: z.string() })),
});
const runSchema = z.object({
  execution_id: z.string(),
  status: z.string(),
  reason: z.object({ code: z.string(), message: z.string() }).optional(),
  duration_ms: z.number().optional(),
  message: z.string().optional(),
  outputs: z.record(z.string(), z.unknown()).optional(),
  log_tail: z.string().optional(),
  failed_step: z
    .object({
      path: z.string(),
      label: z.string(),
      expected: z.string().optional(),
      found: z.string().optional(),
    })
    .optional(),
});
type RunEnd = z.output<typeof runSchema>;
const rowSchema = z.object({
  userinterface_name: z.string().optional(),
  inputs: z.array(z.string()).optional(),
});

/** Runs what is named on the device that is named, and tells how it ended. Runs nothing unless the request asks to. */
export async function run(request: Request, plan: RunPlan): Promise<OfflineAnswer> {
  const name = await request.need(plan.kind);
  const row = rowSchema.parse((await request.all(plan.kind)).rows.get(name) ?? {});
  const named = await request.find("device");
  const app = (await request.findInRest("app")) ?? row.userinterface_name;
  const device = await deviceFor(request, app, named);
  const refusal = refusalOf(request, `${name} on ${device}`);
  if (refusal !== undefined) return refusal;
  const end = await runToEnd(request, plan, {
    ...{ [plan.kind]: name, device_id: device, wait_ms: waitMs },
    ...(app !== undefined && plan.kind === "script" && { userinterface_name: app }),
    ...argumentsOf(request.rest(), plan, row.inputs ?? []),
  });
  const log = end.log_tail ?? (plan.kind === "script" ? "kept with the execution" : undefined);
  return { text: await describe(request, `${name} on ${device}`, { ...end, log }) };
}

/** The device that is named, when it can run the app; else the only one that can. */
async function deviceFor(
  request: Request,
  app: string | undefined,
  named: string | undefined,
): Promise<string> {
  if (app === undefined) return request.need("device");
  const result = await request.call({ name: "get_compatible_hosts", input: { userinterface_name: app } });
  if (result.isError) throw new Settled({ text: `get_compatible_hosts failed. ${textOf(result)}` });
  const { devices, others } = compatibleSchema.parse(result.structured);
  const misfit = others.find(({ id }) => id === named);
  if (misfit !== undefined) throw new Settled({ text: `${misfit.id} cannot run ${app}: ${misfit.reason}.` });
  return request.need(
    "device",
    devices.map(({ id }) => id),
  );
}

/** Orders to run and not to; a question about a script is neither. */
function refusalOf(request: Request, what: string): OfflineAnswer | undefined {
  const [orders, answered] = [ordersIn(request.rest()), ordersIn(request.answer())];
  if ([orders, answered].some((said) => said.has("not") || said.has("stop")))
    return { text: "Nothing was run: the request says not to." };
  if (answered.has("run")) return undefined;
  const isQuestion = questions.some((meaning) => orders.has(meaning));
  if (!isQuestion && ["run", "again", "test"].some((meaning) => orders.has(meaning))) return undefined;
  const question = `Run ${what}?`;
  return { text: question, needs: { question, options: ["Run it", "Do not run it"] } };
}

const questions = ["why", "who", "when", "how_often", "past", "schedule"];

/** Quoted texts that name nothing are a script's arguments, `key=value` a test case's inputs that it has. */
function argumentsOf(rest: readonly Token[], { kind }: RunPlan, inputs: readonly string[]): Input {
  const args = rest.filter(isArgument).map(({ raw }) => raw);
  if (kind === "script") return args.length > 0 ? { args } : {};
  const pairs = rest
    .map(({ raw }) => raw.split("=", 2))
    .filter(([key = "", value]) => value !== undefined && inputs.includes(key));
  return pairs.length > 0 ? { inputs: Object.fromEntries(pairs) } : {};
}

const isEnded = ({ status }: RunEnd): boolean => status !== "queued" && status !== "running";

/** Starts it once and waits on by its id, as long as the skill may take. */
async function runToEnd(request: Request, { tool }: RunPlan, input: Input): Promise<RunEnd> {
  let end = await callRun(request, tool, input);
  const maxWaits = Math.ceil((request.skill.timeout_seconds * 1_000) / waitMs);
  for (let waits = 1; waits < maxWaits && !isEnded(end); waits++)
    end = await callRun(request, tool, { execution_id: end.execution_id, wait_ms: waitMs });
  return end;
}

async function callRun(request: Request, tool: string, input: Input): Promise<RunEnd> {
  const result = await request.call({ name: tool, input });
  if (result.isError) throw new Settled({ text: `${tool} failed. ${textOf(result)}` });
  return runSchema.parse(result.structured);
}

async function describe(
  request: Request,
  what: string,
  end: RunEnd & { log: string | undefined },
): Promise<string> {
  const { execution_id: id, status, duration_ms: ms, reason, failed_step: step } = end;
  const time = ms === undefined ? "" : ` (${(ms / 1_000).toFixed(1)} s)`;
  const report = isEnded(end) ? await reportOf(request, id) : "none yet: the run goes on";
  const lines: [label: string, text: string | undefined][] = [
    ["Reason", reason && `${reason.code}: ${reason.message}`],
    ["Failed step", step && `${step.path} ${step.label}`],
    ["Expected", step?.expected],
    ["Found", step?.found],
    ["Message", end.message],
    ["Outputs", end.outputs && Object.keys(end.outputs).length > 0 ? JSON.stringify(end.outputs) : undefined],
    ["Execution", id],
    ["Report", report],
    ["Log", end.log],
  ];
  const told = lines.flatMap(([label, text]) =>
    text === undefined || text === "" ? [] : [`${label}: ${text}`],
  );
  return [`**${what}**: ${status.toUpperCase()}${time}`, ...told].join("\n");
}

async function reportOf(request: Request, id: string): Promise<string> {
  const result = await request.call({
    name: "get_execution_report",
    input: { execution_id: id, format: "html" },
  });
  const { success, data } = z.object({ report: z.string() }).safeParse(result.structured);
  return success ? data.report : `could not be made. ${textOf(result)}`;
}
