import { randomUUID } from "node:crypto";
import { nearest } from "@labwright/controllers";
import type { Params } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import {
  type Database,
  type Deployment,
  type DeploymentRun,
  deploymentRows,
  deploymentRunRows,
  type ListedDeployment,
} from "../../../storage/index.ts";
import type { CallContext } from "../../ports.ts";
import { mostFitting, pageOf } from "../../values/pages.ts";
import { checked, invalid, problemsError } from "./check.ts";
import { Runner, recoverRuns } from "./runner.ts";
import { localTime, standing } from "./schedule.ts";
import { Scheduler } from "./scheduler.ts";
import type {
  DeploymentDependencies,
  DeploymentLine,
  DeploymentService,
  DeploymentView,
  PausedView,
  RunCall,
  RunLine,
} from "./types.ts";

export type * from "./types.ts";

export const createDeployments = (deps: DeploymentDependencies): DeploymentService => new Deployments(deps);

class Deployments implements DeploymentService {
  private readonly deps: DeploymentDependencies;
  private readonly scheduler: Scheduler;
  private readonly runner: Runner;
  private recovered: Promise<void> | undefined;

  constructor(deps: DeploymentDependencies) {
    this.deps = deps;
    const ready = () => this.ready();
    this.runner = new Runner({ ...deps, ready });
    this.scheduler = new Scheduler({ ...deps, ready, onQueued: () => this.runner.wake() });
  }

  async create(given: Params, context: CallContext) {
    const body = await checked(given, undefined, this.deps);
    const at = this.now();
    const deployment: Deployment = {
      id: randomUUID(),
      name: body.name,
      host_name: this.deps.host,
      body,
      started: 0,
      ...standing(body, 0, this.deps.clock.now()),
      created_by: context.principal,
      created_at: at,
      updated_at: at,
    };
    if (!(await deploymentRows(this.deps.db).insert(deployment))) throw nameTaken(body.name);
    this.scheduler.wake();
    return viewOf(deployment);
  }

  async list({ status, maxTokens }: Parameters<DeploymentService["list"]>[0]) {
    const { found, total } = await deploymentRows(this.deps.db).list(status, mostFitting(maxTokens));
    const { items: deployments } = pageOf(found.map(lineOf), 0, maxTokens);
    return { deployments, more: total - deployments.length };
  }

  async update(ref: string, changes: Params) {
    const before = await this.own(ref);
    const given = Object.entries({ ...before.body, ...changes }).filter(([, value]) => value !== null);
    const body = await checked(Object.fromEntries(given), before, this.deps);
    return this.change(before.id, (deployment) => {
      const { next_at: _, ...rest } = { ...deployment, name: body.name, body };
      if (deployment.status === "paused") return rest;
      return { ...rest, ...standing(body, deployment.started, this.deps.clock.now()) };
    });
  }

  async pause(ref: string): Promise<PausedView> {
    const { id } = await this.own(ref);
    await this.ready();
    const cancelled: string[] = [];
    const view = await this.change(id, async (deployment, tx) => {
      if (deployment.status === "completed") throw completed(deployment, "there is nothing to pause");
      cancelled.push(...(await this.cancelQueued(tx, id, "The deployment was paused before it started.")));
      const { next_at: _, ...rest } = deployment;
      return { ...rest, status: "paused" };
    });
    for (const run of cancelled) this.runner.drop(run);
    const [running] = await deploymentRunRows(this.deps.db).openOf(id);
    return {
      ...view,
      ...(running && { still_running: running.execution_id ?? running.status }),
      ...(cancelled.length > 0 && { cancelled: cancelled.length }),
    };
  }

  async resume(ref: string) {
    const { id } = await this.own(ref);
    return this.change(id, (deployment) => {
      if (deployment.status === "active") return deployment;
      const stands = standing(deployment.body, deployment.started, this.deps.clock.now());
      if (stands.status === "completed") throw completed(deployment, "no due time will come");
      return { ...deployment, ...stands };
    });
  }

  async remove(ref: string, confirm: boolean) {
    const { db } = this.deps;
    const { id, name } = await this.own(ref);
    const runs = await deploymentRunRows(db).countOf(id);
    if (!confirm) {
      throw new ToolError(
        "CONFIRMATION_REQUIRED",
        `This would delete the deployment "${name}" with its history of ${runs} runs. Their executions and reports stay.`,
        "Call again with confirm: true, or pause_deployment to keep it.",
        { would_delete: [name], runs },
      );
    }
    await this.ready();
    const open = await deploymentRunRows(db).openOf(id);
    await deploymentRows(db).remove(id);
    for (const { id: run, status } of open) if (status === "queued") this.runner.drop(run);
    this.scheduler.wake();
    return { deployment_id: id, name, runs };
  }

  async history({ deployment: ref, status, maxTokens }: Parameters<DeploymentService["history"]>[0]) {
    const { id, name, body } = await this.found(ref);
    const rows = deploymentRunRows(this.deps.db);
    const { found, total } = await rows.history(id, status, mostFitting(maxTokens));
    const { items: runs } = pageOf(found.map(runLineOf), 0, maxTokens);
    return { deployment_id: id, name, call: callOf(body), runs, more: total - runs.length };
  }

  async pending(): Promise<number> {
    const { db, host } = this.deps;
    const open = await deploymentRunRows(db).openOn(host);
    return (await deploymentRows(db).countActive(host)) + open.length;
  }

  async start(): Promise<void> {
    const open = await deploymentRunRows(this.deps.db).openOn(this.deps.host);
    if (open.length > 0) this.runner.wake();
    this.scheduler.wake();
  }

  async close(): Promise<void> {
    await this.scheduler.stop();
    await this.runner.close();
  }

  /** Resolves when the runs of a dead daemon have ended. */
  private ready(): Promise<void> {
    this.recovered ??= recoverRuns(this.deps).catch((error: unknown) => {
      this.recovered = undefined;
      throw error;
    });
    return this.recovered;
  }

  /** Changes a deployment as it stands now, then arms what changed. */
  private async change(
    id: string,
    work: (deployment: Deployment, tx: Database) => Deployment | Promise<Deployment>,
  ) {
    const changed = await this.deps.db.transaction(async (tx) => {
      const deployment = await deploymentRows(tx).claim(id);
      if (!deployment) return undefined;
      const after = { ...(await work(deployment, tx)), updated_at: this.now() };
      await deploymentRows(tx).update(after);
      return after;
    });
    if (!changed) throw await this.notFound(id);
    this.scheduler.wake();
    return viewOf(changed);
  }

  private async cancelQueued(tx: Database, id: string, message: string): Promise<string[]> {
    const rows = deploymentRunRows(tx);
    const queued = (await rows.openOf(id)).filter(({ status }) => status === "queued");
    for (const run of queued) {
      await rows.end(run.id, {
        status: "cancelled",
        reason: { code: "CANCELLED", message },
        finished_at: this.now(),
      });
    }
    return queued.map((run) => run.id);
  }

  /** One whose host is this: its devices are here. */
  private async own(ref: string): Promise<Deployment> {
    const deployment = await this.found(ref);
    const { host_name: host, name } = deployment;
    if (host === this.deps.host) return deployment;
    throw new ToolError(
      "DAEMON_UNAVAILABLE",
      `The deployment "${name}" belongs to host ${host}, not to ${this.deps.host}.`,
      `Make the call on ${host}.`,
      { host },
    );
  }

  private async found(ref: string): Promise<Deployment> {
    const deployment = await deploymentRows(this.deps.db).find(ref);
    if (deployment) return deployment;
    throw await this.notFound(ref);
  }

  private async notFound(ref: string): Promise<ToolError> {
    const near = nearest(ref, await deploymentRows(this.deps.db).names(), 5);
    return new ToolError(
      "DEPLOYMENT_NOT_FOUND",
      `There is no deployment "${ref}".`,
      near.length > 0
        ? `Did you mean ${near.map((name) => `"${name}"`).join(", ")}?`
        : "list_deployments shows all.",
      { nearest: near },
    );
  }

  private now(): string {
    return new Date(this.deps.clock.now()).toISOString();
  }
}

const nameTaken = (name: string) =>
  problemsError([{ code: "ALREADY_EXISTS", message: `name: there is a deployment "${name}" already` }]);

const completed = ({ name }: Deployment, what: string) =>
  problemsError([
    invalid(`"${name}" is over, ${what}: give it new dates, ends_at or max_executions by update_deployment`),
  ]);

function viewOf({ id, name, status, body, next_at: next }: Deployment): DeploymentView {
  return {
    deployment_id: id,
    name,
    status,
    device_id: body.device_id,
    ...(next !== undefined && { next_due: next }),
    ...(next !== undefined && body.timezone !== "UTC" && { next_due_local: localTime(next, body.timezone) }),
  };
}

function callOf({ testcase, script, inputs, args, ...body }: Deployment["body"]): RunCall {
  const { device_id, timeout_ms, userinterface_name, environment, release } = body;
  const own = script === undefined ? { testcase, inputs, environment, release } : { script, args };
  const given = Object.entries({ ...own, device_id, timeout_ms, userinterface_name });
  return {
    tool: script === undefined ? "execute_testcase" : "execute_script",
    arguments: Object.fromEntries(given.filter(([, value]) => value !== undefined)),
  };
}

function lineOf(deployment: ListedDeployment): DeploymentLine {
  const { testcase, script, cron, timezone, dates, max_executions: max } = deployment.body;
  const { next_due_local: _, ...view } = viewOf(deployment);
  return {
    ...view,
    ...(testcase !== undefined && { testcase }),
    ...(script !== undefined && { script }),
    ...(cron !== undefined && { cron, timezone }),
    ...(dates.length > 0 && { dates: dates.length }),
    started: deployment.started,
    ...(max !== undefined && { max_executions: max }),
    ...(deployment.last && { last: deployment.last }),
  };
}

function runLineOf({
  due_at,
  status,
  reason,
  execution_id,
  started_at,
  finished_at,
}: DeploymentRun): RunLine {
  return {
    due_at,
    status,
    ...(execution_id !== undefined && { execution_id }),
    ...(reason && { reason: `${reason.code}: ${reason.message}` }),
    ...(started_at !== undefined && { started_at }),
    ...(finished_at !== undefined && started_at !== undefined && { finished_at }),
  };
}
