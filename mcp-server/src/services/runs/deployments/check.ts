import { type DeploymentInput, deploymentSchema, type Params } from "../../../domain/index.ts";
import { type ErrorCode, ToolError } from "../../../errors.ts";
import { type Deployment, deploymentRows } from "../../../storage/index.ts";
import { inputProblemsOf } from "../../apps/testcases/validate.ts";
import { inputProblems } from "../../values/inputProblems.ts";
import { cronProblem, nextDue, timezoneProblem } from "./schedule.ts";
import type { DeploymentDependencies } from "./types.ts";

type Ports = Pick<
  DeploymentDependencies,
  "db" | "devices" | "testcases" | "apps" | "scripts" | "secrets" | "clock"
>;

/** The deployment to store: whole device id, test case by name. `before` is the one it replaces. Throws all problems at once. */
export async function checked(
  given: Params,
  before: Deployment | undefined,
  ports: Ports,
): Promise<DeploymentInput> {
  const parsed = deploymentSchema.safeParse(withDevice(given, ports));
  if (!parsed.success)
    throw problemsError(inputProblems(deploymentSchema, withDevice(given, ports), "").map(invalid));
  const body = parsed.data;
  const problems = [
    ...whatProblems(body),
    ...scheduleProblems(body, { now: ports.clock.now(), before: before?.body }),
    ...countProblems(body, before),
    ...(await problemOf("device_id", () => ports.devices.find(body.device_id))),
    ...(await nameProblems(body, before, ports)),
    ...(await targetProblems(body, ports)),
    ...(await problemOf("inputs", () => ports.secrets.check({ inputs: body.inputs, args: body.args }))),
  ];
  if (problems.length > 0) throw problemsError(problems);
  return { ...body, device_id: ports.devices.find(body.device_id).id, ...(await named(body, ports)) };
}

/** Without a name, the only device there is. */
function withDevice(given: Params, { devices }: Ports): Params {
  const [only, ...others] = devices.list();
  if (given.device_id !== undefined || !only || others.length > 0) return given;
  return { ...given, device_id: only.id };
}

function whatProblems({ testcase, script, inputs, args }: DeploymentInput): Problem[] {
  const hasInputs = Object.keys(inputs).length > 0;
  return [
    ...(testcase === undefined && script === undefined ? ["testcase: give testcase or script"] : []),
    ...(testcase !== undefined && script !== undefined
      ? ["testcase: give testcase or script, not both"]
      : []),
    ...(script !== undefined && hasInputs ? ["inputs: a script takes args"] : []),
    ...(testcase !== undefined && args.length > 0 ? ["args: a test case takes inputs"] : []),
  ].map(invalid);
}

function countProblems({ max_executions: max }: DeploymentInput, before: Deployment | undefined): Problem[] {
  if (max === undefined || !before || before.started < max) return [];
  return [invalid(`max_executions: ${before.started} were started already`)];
}

async function nameProblems(
  { name }: DeploymentInput,
  before: Deployment | undefined,
  { db }: Ports,
): Promise<Problem[]> {
  const taken = name === before?.name ? undefined : await deploymentRows(db).find(name);
  return taken?.name === name
    ? [{ code: "ALREADY_EXISTS", message: `name: there is a deployment "${name}" already` }]
    : [];
}

async function targetProblems(body: DeploymentInput, ports: Ports): Promise<Problem[]> {
  const { testcase, script, userinterface_name: app, inputs } = body;
  return [
    ...(testcase === undefined ? [] : await testcaseProblems(testcase, inputs, ports)),
    ...(script === undefined ? [] : await problemOf("script", () => ports.scripts.find(script))),
    ...(app === undefined ? [] : await problemOf("userinterface_name", () => ports.apps.describe(app))),
  ];
}

async function testcaseProblems(ref: string, inputs: Params, { testcases }: Ports): Promise<Problem[]> {
  const missing = await problemOf("testcase", () => testcases.load(ref));
  if (missing.length > 0) return missing;
  return inputProblemsOf(await testcases.load(ref), inputs).map((message) => invalid(`inputs: ${message}`));
}

/** Their own names: a test case may be given by id, a script without extension. A project's test case keeps its id. */
async function named(
  { testcase, script }: DeploymentInput,
  { testcases, scripts }: Ports,
): Promise<Pick<DeploymentInput, "testcase" | "script">> {
  const named = testcase === undefined ? undefined : await testcases.load(testcase);
  return {
    ...(named && { testcase: named.source.project === "" ? named.name : named.id }),
    ...(script !== undefined && { script: (await scripts.find(script)).name }),
  };
}

/** What is wrong with when it is due. `before` is the schedule that this one replaces: what it had may be over. */
function scheduleProblems(
  body: DeploymentInput,
  { now, before }: { now: number; before: DeploymentInput | undefined },
): Problem[] {
  const { cron, dates, timezone, starts_at: startsAt, ends_at: endsAt } = body;
  const inCron = cron === undefined ? undefined : cronProblem(cron);
  const inTimezone = timezoneProblem(timezone);
  const past = dates.filter((date) => Date.parse(date) <= now && !before?.dates.includes(date));
  const over = endsAt !== undefined && Date.parse(endsAt) <= now;
  const problems = [
    ...(cron === undefined && dates.length === 0 ? ["cron: give cron, dates or both"] : []),
    ...(inCron === undefined ? [] : [`cron: ${inCron}`]),
    ...(inTimezone === undefined ? [] : [`timezone: ${inTimezone}`]),
    ...past.map((date) => `dates: ${date} is past`),
    ...(over ? [`ends_at: ${endsAt} is past`] : []),
    ...(startsAt !== undefined && endsAt !== undefined && endsAt < startsAt
      ? [`ends_at: ${endsAt} is before starts_at ${startsAt}`]
      : []),
  ];
  const isNever = problems.length === 0 && nextDue(body, now) === undefined;
  return (isNever ? ["cron: it is never due between starts_at and ends_at"] : problems).map(invalid);
}

/** What is wrong with a deployment; the message begins with the argument. */
export type Problem = { code: ErrorCode; message: string };

const hint = "Correct this and try again; nothing was stored.";

/** One error for all problems: with the code of a single one, else INVALID_INPUT. */
export function problemsError(problems: readonly Problem[]): ToolError {
  const [first, ...others] = problems;
  const code = first && others.length === 0 ? first.code : "INVALID_INPUT";
  const messages = problems.map(({ message }) => message);
  return new ToolError(code, `${messages.join("; ")}.`, hint, { problems: messages });
}

/** The problem that a lookup throws, as one of `argument`; nothing if it succeeds. */
async function problemOf(argument: string, lookUp: () => unknown): Promise<Problem[]> {
  try {
    await lookUp();
    return [];
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return [{ code: error.code, message: `${argument}: ${error.message} ${error.hint}`.replace(/\.$/, "") }];
  }
}

export const invalid = (message: string): Problem => ({ code: "INVALID_INPUT", message });
