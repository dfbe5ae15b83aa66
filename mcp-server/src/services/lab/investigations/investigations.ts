import { randomUUID } from "node:crypto";
import {
  type Evaluate,
  nextState,
  reportOf,
  restoreState,
  type Skill,
  startTree,
  TreeError,
  type TreeState,
} from "@labwright/skills";
import { ToolError } from "../../../errors.ts";
import type { Investigation, InvestigationRows } from "../../../storage/index.ts";
import type { CallContext, Clock, ExecutionService, Run, Secrets } from "../../ports.ts";
import { reasonOf } from "../../records/executions/index.ts";
import { settled } from "../../values/expressions.ts";
import type { SchemaPort, ToolPort } from "./actions.ts";
import { ReplyCache } from "./cache.ts";
import { Conduct } from "./conduct.ts";
import { chooseSkill } from "./route.ts";
import type { Http } from "./sources/access.ts";
import { Sources } from "./sources/index.ts";
import {
  type Definition,
  definitionSchema,
  type InvestigationView,
  readDefinition,
  viewOf,
} from "./views.ts";

/** Bytes of a context as JSON: the whole state is stored after each step. */
const longestContext = 262_144;
/** A killed server may leave an investigation so often before it is given up. */
const mostInterruptions = 3;
/** Tries to store a change while others store theirs. */
const mostTries = 20;

export type StartRequest = {
  /** A name, or `name@1.2.0`; chosen by `question` and `context` when left out. */
  skill?: string | undefined;
  question?: string | undefined;
  context: Readonly<Record<string, unknown>>;
  wait_ms: number;
};
export type ResumeRequest = {
  investigation_id: string;
  handoff_id?: string | undefined;
  answer?: string | undefined;
  context?: Readonly<Record<string, unknown>> | undefined;
  /** 1 to 5. */
  rating?: number | undefined;
  /** Whether the root cause was the real one. */
  confirmed?: boolean | undefined;
  wait_ms: number;
};

export type InvestigationDependencies = {
  rows: InvestigationRows;
  executions: Pick<ExecutionService, "run" | "wait">;
  secrets: Secrets;
  clock: Clock;
  schemas: SchemaPort;
  http: Http;
  skills(): readonly Skill[];
  tools(): ToolPort;
  host: string;
  onFault(error: unknown): void;
};

export type InvestigationService = Pick<Investigations, "begin" | "resume" | "waiting" | "stats">;

export class Investigations {
  private readonly cache: ReplyCache;
  private readonly sources: Sources;
  private readonly live = new Set<string>();
  private isClosing = false;

  constructor(private readonly deps: InvestigationDependencies) {
    this.cache = new ReplyCache(deps.clock);
    this.sources = new Sources(deps);
  }

  /** Starts one, and waits for its end, a question to a person, or `wait_ms`. Throws SKILL_NOT_FOUND, INPUT_TOO_LARGE. */
  async begin(
    { skill: wanted, question, context, wait_ms }: StartRequest,
    call: CallContext,
  ): Promise<InvestigationView> {
    const evaluate = await loadEvaluate();
    const choice = await settled(() =>
      chooseSkill(this.deps.skills(), { skill: wanted, question, context }, evaluate),
    );
    if ("judgement" in choice) return { status: "waiting", steps: 0, ...choice };
    const { skill } = choice;
    const at = this.deps.clock.now();
    const definition = definitionSchema.parse(skill);
    const { tree } = definition.investigation;
    const state = await settled(() => startTree(tree, this.contextOf(context), { evaluate, at }));
    const now = new Date(at).toISOString();
    const row: Investigation = {
      ...{ id: randomUUID(), skill: skill.name, skill_version: skill.version, status: "running" },
      ...(question !== undefined && { question: this.deps.secrets.mask(question) }),
      ...{ definition, state, revision: 0, principal: call.principal, client: call.client },
      ...{ host_name: this.deps.host, interruptions: 0, steps: 0, calls: 0, cached: 0, source_ms: 0 },
      ...{ active_ms: 0, handoffs: 0, started_at: now, updated_at: now },
    };
    await this.deps.rows.insert(row);
    return this.goOn(row, definition, wait_ms, call);
  }

  /** Answers a question, rates, or returns the state. Throws INVESTIGATION_NOT_FOUND, HANDOFF_ANSWERED, INVALID_INPUT. */
  async resume(request: ResumeRequest, call: CallContext): Promise<InvestigationView> {
    const { investigation_id: id, answer, rating, confirmed, wait_ms } = request;
    let row = await this.found(id);
    if (rating !== undefined || confirmed !== undefined)
      row = await this.change(id, (before) => judged(before, { rating, confirmed }));
    if (answer !== undefined) return this.answer({ ...request, answer }, call);
    if (row.status !== "running" || row.execution_id === undefined) return this.view(row);
    await this.deps.executions.wait(row.execution_id, wait_ms, call);
    return this.view(await this.found(id));
  }

  /** Those with a question that {@link resume} answers, the latest first. */
  async waiting(limit: number): Promise<(InvestigationView & { asked_at: string })[]> {
    const rows = await this.deps.rows.waiting(limit);
    return rows.map((row) => ({ ...this.view(row), asked_at: row.updated_at }));
  }

  /** Runs, time, calls, handoffs and accuracy by skill. */
  async stats(skill?: string) {
    const [uses, spending] = await Promise.all([this.deps.rows.uses(skill), this.deps.rows.spending(skill)]);
    return { uses, spending };
  }

  /** Goes on with those that a process of this host left: at its start, and when the database is back. */
  async start(): Promise<void> {
    for (const row of await this.deps.rows.runningOn(this.deps.host)) {
      if (this.live.has(row.id)) continue;
      await this.recoverOne(row).catch((error: unknown) => this.deps.onFault(error));
    }
  }

  /** Forgets those that changed last before `at` and do not run. */
  async purge(at: string): Promise<void> {
    await this.deps.rows.purge(at);
  }

  /** From now on, runs that end are left to the next start. */
  leave(): void {
    this.isClosing = true;
  }

  async close(): Promise<void> {
    await this.sources.close();
  }

  private async recoverOne(row: Investigation): Promise<void> {
    const interruptions = row.interruptions + 1;
    if (interruptions > mostInterruptions) {
      const message = `The server ended ${interruptions} times during the same step.`;
      const reason = { code: "INTERRUPTED", message };
      await this.deps.rows.save({ ...row, status: "failed", reason, finished_at: this.now() });
      return;
    }
    const counted = { ...row, interruptions };
    if (!(await this.deps.rows.save(counted))) return;
    const { principal, client } = row;
    const context: CallContext = {
      ...{ principal, client, signal: new AbortController().signal, deadline: Number.POSITIVE_INFINITY },
      ...{ trace_id: randomUUID().replaceAll("-", ""), progress: () => undefined },
      capabilities: { elicitation: false },
    };
    await this.goOn({ ...counted, revision: row.revision + 1 }, readDefinition(row), 0, context);
  }

  /** One of two answers that come at once finds the state that the other one made. */
  private async answer(
    request: ResumeRequest & { answer: string },
    call: CallContext,
  ): Promise<InvestigationView> {
    const evaluate = await loadEvaluate();
    const context = request.context && this.contextOf(request.context);
    const answer = this.deps.secrets.mask(request.answer);
    const row = await this.change(request.investigation_id, (before) => {
      const { tree } = readDefinition(before).investigation;
      const state = restoreState(tree, before.state);
      const handoff = request.handoff_id ?? onlyHandoff(state);
      const given = { type: "answer" as const, handoff, answer, at: this.deps.clock.now() };
      const next = answered(() =>
        nextState(tree, state, { ...given, ...(context && { context }) }, evaluate),
      );
      if (before.status !== "waiting") throw notWaiting(before);
      return { ...before, status: "running", state: next, host_name: this.deps.host };
    });
    return this.goOn(row, readDefinition(row), request.wait_ms, call);
  }

  /** Without the values of secrets, since it is stored. */
  private contextOf(context: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    const bytes = Buffer.byteLength(JSON.stringify(context));
    if (bytes <= longestContext) return this.deps.secrets.maskValues(context);
    throw new ToolError(
      "INPUT_TOO_LARGE",
      `context is ${bytes} bytes of JSON, over ${longestContext}.`,
      "Give ids, and let the tree's steps ask for the rest.",
    );
  }

  /** Stores what `change` makes of the row as it is then, again when another process was faster. */
  private async change(id: string, change: (row: Investigation) => Investigation): Promise<Investigation> {
    for (let tries = 0; tries < mostTries; tries++) {
      const row = { ...change(await this.found(id)), updated_at: this.now() };
      if (await this.deps.rows.save(row)) return { ...row, revision: row.revision + 1 };
    }
    throw new ToolError(
      "SESSION_BUSY",
      `Others change investigation ${id} all the time.`,
      "Ask for its state, then try again.",
    );
  }

  /** One run of it. Its row says what became of it, also when the run was stopped before it began. */
  private async goOn(
    row: Investigation,
    definition: Definition,
    wait_ms: number,
    call: CallContext,
  ): Promise<InvestigationView> {
    const { id, skill, skill_version, question } = row;
    const left = definition.timeout_seconds * 1_000 - row.active_ms;
    const spec = {
      ...{ kind: "investigation" as const, name: skill, device: "none" as const, wait_ms },
      input: { investigation_id: id, skill: `${skill}@${skill_version}`, question },
      timeout_ms: Math.max(1, left),
    };
    const evaluate = await loadEvaluate();
    let hasBegun = false;
    this.live.add(id);
    try {
      const reply = await this.deps.executions.run(spec, call, async (run) => {
        hasBegun = true;
        const conduct = this.conductOf(row, definition, run, evaluate);
        const ended = await conduct.toItsEnd().finally(() => this.live.delete(id));
        return { status: "passed", output: viewOf(ended, definition) };
      });
      if (reply.output) return reply.output;
      if (!hasBegun && reply.reason) await this.notBegun(row, reply.reason);
      return { ...this.view(await this.found(id)), execution_id: reply.execution_id };
    } catch (error) {
      if (!hasBegun) await this.notBegun(row, reasonOf(error));
      throw error;
    }
  }

  private conductOf(row: Investigation, definition: Definition, run: Run, evaluate: Evaluate): Conduct {
    const { rows, secrets, clock, schemas, tools } = this.deps;
    const { tree } = definition.investigation;
    const sources = this.sources.of(definition.data_sources ?? {});
    return new Conduct({ ...row, execution_id: run.id }, tree, restoreState(tree, row.state), run, {
      ...{ rows, secrets, clock, schemas, tools, sources, evaluate },
      ...{ cache: this.cache, isClosing: () => this.isClosing },
    });
  }

  private async notBegun(row: Investigation, reason: { code: string; message: string }): Promise<void> {
    this.live.delete(row.id);
    if (this.isClosing || reason.code === "STORAGE_FAILED") return;
    const status = reason.code === "CANCELLED" ? "cancelled" : "failed";
    await this.deps.rows.save({ ...row, status, reason, finished_at: this.now() });
  }

  private now(): string {
    return new Date(this.deps.clock.now()).toISOString();
  }

  private view(row: Investigation): InvestigationView {
    return viewOf(row, readDefinition(row));
  }

  private async found(id: string): Promise<Investigation> {
    const row = await this.deps.rows.find(id);
    if (row) return row;
    throw new ToolError(
      "INVESTIGATION_NOT_FOUND",
      `There is no investigation "${id.slice(0, 100)}".`,
      "Use the investigation_id that start_investigation gave.",
    );
  }
}

/** CEL, which is loaded with the first investigation. */
const loadEvaluate = async (): Promise<Evaluate> =>
  (await import("../../values/conditions.ts")).evaluateCondition;

function answered<State>(next: () => State): State {
  try {
    return next();
  } catch (error) {
    if (!(error instanceof TreeError)) throw error;
    const code = error.code === "ALREADY_ANSWERED" ? "HANDOFF_ANSWERED" : "INVALID_INPUT";
    throw new ToolError(code, error.message, error.hint, {}, { cause: error });
  }
}

/** Without its id, an answer could reach a question that was asked after the one that its author read. */
function onlyHandoff(state: TreeState): string {
  const [first, second] = state.handoffs;
  if (first && !second) return first.id;
  const open = reportOf(state).handoff?.id;
  throw new ToolError(
    "INVALID_INPUT",
    "An answer needs the handoff_id of its question.",
    open === undefined
      ? "No question waits: leave answer out for the state."
      : `The question that waits is ${open}.`,
  );
}

const notWaiting = ({ status }: Investigation): ToolError =>
  new ToolError(
    "INVALID_INPUT",
    `The investigation is ${status}, and takes no answer now.`,
    "Call resume_investigation without an answer for its state.",
  );

/** A person's word on what it found. While it runs, only its run stores it. */
function judged(
  row: Investigation,
  { rating, confirmed }: Pick<ResumeRequest, "rating" | "confirmed">,
): Investigation {
  if (row.status === "running" || (confirmed !== undefined && row.status !== "done"))
    throw new ToolError(
      "INVALID_INPUT",
      `The investigation is ${row.status}, so there is no result to judge yet.`,
      "Wait for its end, or answer its question first.",
    );
  return { ...row, ...(rating !== undefined && { rating }), ...(confirmed !== undefined && { confirmed }) };
}
