import { type DeploymentInput, deploymentSchema, type Params } from "../../../domain/index.ts";
import { type Deployment, deploymentRows } from "../../../storage/index.ts";
import { inputProblemsOf } from "../../apps/testcases/validate.ts";
import { inputProblems } from "../../values/inputProblems.ts";
import { invalid, type Problem, problemOf, problemsError } from "./problems.ts";
import { scheduleProblems } from "./scheduleProblems.ts";
import type { DeploymentDependencies } from "./types.ts";

type Ports = Pick<
  DeploymentDependencies,
  "db" | "devices" | "testcases" | "apps" | "scripts" | "secrets" | "clock"
>;

/**
 * What is given as a deployment that may be stored: the device by its whole id, the test case by its name. `before` is
 * the one that it replaces. Throws with every problem at once.
 */
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

/**
 * By their own names, since a test case may be given by its id and a script without its extension; a project's test case by its
 * id, since another project may have one of its name.
 */
async function named(
  { testcase, script }: DeploymentInput,
  { testcases, scripts }: Ports,
): Promise<Pick<DeploymentInput, "testcase" | "script">> {
  const meant = testcase === undefined ? undefined : await testcases.load(testcase);
  return {
    ...(meant && { testcase: meant.source.project === "" ? meant.name : meant.id }),
    ...(script !== undefined && { script: (await scripts.find(script)).name }),
  };
}
