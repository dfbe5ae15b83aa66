import { shortened, untilAborted } from "@labwright/controllers";
import { isLoopback } from "../../../config/places.ts";
import { type ApiFinding, type ApiOperation, type ApiSpec, faults } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import { isWrite } from "../../policy/production.ts";
import type { Run } from "../../ports.ts";
import { reasonOf } from "../../records/executions/index.ts";
import { isObject } from "../apis/spec/reader.ts";
import { accessCases, type CaseInput, casesOf, checksFor } from "./cases.ts";
import { clearestOf, type Outcome, outputOf } from "./findings.ts";
import { flowsOf } from "./flows/flows.ts";
import { type Good, goodRequest, type Judge } from "./goodRequest.ts";
import { askOf, type Generated, independent, sequence } from "./graphs.ts";
import { type OwnTests, ruleTests, withOwnValues } from "./ownTests.ts";
import { type ReplyRules, replyRules } from "./replyChecks.ts";
import type { ApiTestDependencies, ApiTestRequest } from "./request.ts";
import { credentialsOf, needsCredentials } from "./requests.ts";
import { injectionTests, type Listener, openListener, securityCases } from "./security.ts";
import { smallerAsk } from "./shrink.ts";
import type { Ask } from "./types.ts";
import { headOf, requestIn, type Setup, setupFor, type World } from "./world.ts";

export type Given = {
  spec: ApiSpec;
  operations: readonly ApiOperation[];
  baseUrl: string;
  seed: number;
  /** No request may change anything. */
  readsOnly: boolean;
  request: ApiTestRequest;
  own: OwnTests;
  run: Run;
  deps: ApiTestDependencies;
};

/** How long a server that went away is waited for, test after test: it may be one that is started again. */
const patienceMs = [500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000];

/** One run through the operations of an API: good requests first, then everything that is built on what they showed. */
export class Campaign {
  readonly outcomes: Outcome[] = [];
  readonly notReached: { operation: string; reason: string }[] = [];
  readonly notes: string[] = [];
  readonly tried = new Set<string>();
  /** Why nothing could be judged any more. */
  brokenBy: { code: string; message: string } | undefined;
  private readonly operations: readonly ApiOperation[];
  private readonly world: World;
  private unreachable = 0;
  private readonly made: Generated[] = [];
  private listener: Listener | undefined;

  constructor(private readonly given: Given) {
    this.operations = given.operations;
    this.world = this.worldOf();
  }

  async run(): Promise<void> {
    const { world, given } = this;
    if (given.request.security) await this.openListener();
    try {
      await this.each(this.inOrder(), (operation) => this.tryGood(operation));
      await this.each(this.operations, async (operation) => {
        const tests = [
          ...(await this.variations(operation)),
          ...(await flowsOf(operation, world)),
          ...(given.request.security ? await injectionTests(operation, world) : []),
        ];
        await this.each(tests, (test) => this.execute(test));
      });
      if (given.request.security) await this.lookAgain();
    } finally {
      this.listener?.close();
    }
    const rules = given.readsOnly ? [] : await ruleTests(given.own, world);
    await this.each(rules, (test) => this.judgeRule(test));
    await this.each(clearestOf(this.outcomes), (outcome) => this.shrink(outcome));
  }

  private async openListener(): Promise<void> {
    const { hostname } = new URL(this.given.baseUrl);
    if (isLoopback(hostname)) this.listener = await openListener();
    else this.notes.push(`F202 was not tried: ${hostname} is not on this machine and cannot call it.`);
  }

  /** Pages that may show what was stored, and calls that a server makes later. */
  private async lookAgain(): Promise<void> {
    const pages = this.operations.filter(
      ({ id, method }) => method === "GET" && this.world.facts.get(id)?.reached,
    );
    await this.each(pages, (operation) => this.tryGood(operation));
    if (this.outcomes.some(({ ask }) => ask.trial === "an address")) await paused(1_000, this.given);
    for (const outcome of this.outcomes) outcome.called = this.listener?.wasCalled(outcome.ask) ?? false;
  }

  /** One after the other, until nothing can be judged any more. */
  private async each<Item>(items: readonly Item[], work: (item: Item) => Promise<unknown>): Promise<void> {
    for (const item of items) if (!this.brokenBy) await work(item);
  }

  private async judgeRule(test: Generated): Promise<void> {
    const outcomes = await this.execute(test);
    const verdict = outcomes.find(({ ask }) => ask.kind === "rule");
    if (verdict && outputOf(verdict.step).value !== undefined) return;
    const reason = verdict?.step.error?.message ?? outcomes.at(-1)?.step.error?.message ?? "a call failed";
    this.notes.push(shortened(`The rule "${test.testcase.name}" was not judged: ${reason}`, 500));
  }

  private async shrink(outcome: Outcome): Promise<void> {
    const operation = this.given.spec.operations.find(({ id }) => id === outcome.ask.operation);
    const ask = operation && (await smallerAsk(outcome, operation, this.world));
    if (!ask) return;
    const head = await this.headFor(operation, "smaller request");
    await this.execute(independent(head, operation.id, { before: outcome.setup, asks: [ask] }));
  }

  /** Credentials that some operations take and others answer with 401. */
  ownFindings(): ApiFinding[] {
    const { spec } = this.given;
    const isSecured = ({ ask }: Outcome) =>
      spec.operations.some((one) => one.id === ask.operation && needsCredentials(one, spec));
    const secured = this.outcomes
      .filter((outcome) => outcome.ask.id === "good" && isSecured(outcome))
      .map(({ ask, execution_id, step }) => ({ ask, execution_id, status: outputOf(step).status ?? 0 }));
    if (this.world.roles.length === 0 || !secured.some(({ status }) => status > 0 && status < 300)) return [];
    const said = { fault: "F205", title: faults.F205, at: "credentials" } as const;
    const expected = "403, or a success: others took these credentials";
    return secured
      .filter(({ status }) => status === 401)
      .map(({ ask: { operation }, execution_id }) => ({
        ...{ ...said, operation, expected, found: "status 401", curl: "", times: 1, execution_id },
      }));
  }

  /**
   * Saves the tests whose good request was accepted; others would only fail for want of a value. Replaces generated tests only.
   * Returns the names of what was saved.
   */
  async save(): Promise<string[]> {
    const names: string[] = [];
    const lost = new Set(this.notReached.map(({ operation }) => operation));
    for (const { testcase, operation } of this.made) {
      if (lost.has(operation)) continue;
      const replace = ({ tags }: { tags: readonly string[] }) => tags.includes("generated");
      try {
        names.push((await this.given.deps.testcases.save(testcase, { replace })).name);
      } catch (error) {
        if (!(error instanceof ToolError) || error.code !== "ALREADY_EXISTS") throw error;
        this.notes.push(`Not saved: ${error.message}`.slice(0, 500));
      }
    }
    return names;
  }

  private worldOf(): World {
    const { spec, baseUrl, seed, request, own, deps } = this.given;
    const rules = new Map<string, Promise<ReplyRules>>();
    const goods = new Map<string, Promise<Good>>();
    const { check } = deps.schemas;
    const judge: Judge = async (schema, value) => {
      if (typeof schema !== "boolean" && !isObject(schema)) return undefined;
      try {
        return (await check(schema, { json: value })).findings.length === 0;
      } catch (error) {
        if (error instanceof ToolError) return undefined;
        throw error;
      }
    };
    const kept = <Value>(map: Map<string, Promise<Value>>, key: string, make: () => Promise<Value>) => {
      const found = map.get(key) ?? make();
      map.set(key, found);
      return found;
    };
    const roles = Object.keys(request.auth).filter((name) => name !== "expired");
    return {
      ...{ spec, baseUrl, seed, judge, roles, facts: new Map() },
      rulesOf: (operation) =>
        kept(rules, operation.id, () =>
          replyRules(operation, spec, (schema) => this.isUsable(schema, operation)),
        ),
      goodOf: (operation, variant) =>
        kept(goods, `${operation.id} ${variant}`, () =>
          goodRequest(operation, spec, { seed, variant }, judge).then((good) =>
            withOwnValues(good, operation, own, judge),
          ),
        ),
      credentialsOf: (operation, role = roles[0] ?? "") => credentialsOf(operation, spec, request.auth[role]),
    };
  }

  private async isUsable(
    schema: Parameters<ApiTestDependencies["schemas"]["check"]>[0],
    { id }: ApiOperation,
  ) {
    try {
      await this.given.deps.schemas.check(schema);
      return true;
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      this.notes.push(shortened(`${id}: a schema of its replies is not judged: ${error.message}`, 300));
      return false;
    }
  }

  /** Who makes things before who needs them, deletions last. What the chosen ones need is tried with them. */
  private inOrder(): ApiOperation[] {
    const { spec } = this.given;
    const isNeeded = (one: ApiOperation) =>
      one.method === "POST" && this.operations.some(({ path }) => path.startsWith(`${one.path}/{`));
    const all = spec.operations.filter(
      (one) =>
        this.operations.includes(one) || (this.mayAsk(one.method) && (isNeeded(one) || this.isReader(one))),
    );
    const rank = ({ path, method }: ApiOperation) =>
      path.split("/").length * 10 +
      ["POST", "PUT", "GET", "HEAD", "OPTIONS", "PATCH", "DELETE"].indexOf(method);
    return all.toSorted((one, other) => rank(one) - rank(other));
  }

  private mayAsk(method: string): boolean {
    return !this.given.readsOnly || !isWrite(method);
  }

  /** Reads what a chosen operation changes or makes. */
  private isReader({ method, path }: ApiOperation): boolean {
    const isItem = (own: string) => path.startsWith(`${own}/{`) && !path.slice(own.length + 1).includes("/");
    return (
      method === "GET" &&
      this.operations.some((one) => one.path === path || (one.method !== "HEAD" && isItem(one.path)))
    );
  }

  private async tryGood(operation: ApiOperation): Promise<void> {
    const { world } = this;
    const { id, method } = operation;
    if (method === "TRACE") {
      this.miss(operation, "requests of method TRACE are not sent");
      return;
    }
    const rules = await world.rulesOf(operation);
    const { asks: before, parameters } = await setupFor(operation, { variant: 1 }, world);
    const asks: Ask[] = [];
    for (const [variant, name] of (method === "POST" ? ["good", "another"] : ["good"]).entries()) {
      const { values } = await world.goodOf(operation, variant);
      const request = requestIn(operation, { values, parameters }, world);
      const label = variant === 0 ? "good request" : "another good request";
      const said = { label, kind: "good", operation: id } as const;
      asks.push(askOf({ ...said, request, checks: checksFor("good", rules) }, name));
    }
    const head = await this.headFor(operation, "good request");
    const test =
      asks.length > 1 ? independent(head, id, { before, asks }) : sequence(head, id, [...before, ...asks]);
    const outcomes = await this.execute(test);
    const [good, another] = ["good", "another"].map((name) => {
      const found = outcomes.find(({ ask }) => ask.id === name);
      return found ? outputOf(found.step) : {};
    });
    const isGood = ({ status = 0 }: { status?: number | undefined } = {}) => status >= 200 && status < 300;
    const shown = isGood(another) ? another : good;
    world.facts.set(id, { reached: isGood(shown), varied: isGood(another), body: shown?.body });
    if (!isGood(shown)) this.miss(operation, this.whyMissed(shown?.status, operation));
  }

  private whyMissed(status: number | undefined, operation: ApiOperation): string {
    if (status === undefined) return this.brokenBy?.message ?? "its set-up was not accepted";
    const isSecured = needsCredentials(operation, this.given.spec) && [401, 403].includes(status);
    return `status ${status} to the good request${isSecured ? "; give auth" : ""}`;
  }

  private miss(operation: ApiOperation, reason: string): void {
    if (this.operations.includes(operation)) this.notReached.push({ operation: operation.id, reason });
  }

  private async headFor(operation: ApiOperation, what: string) {
    const { variables } = await this.world.rulesOf(operation);
    return { ...headOf(this.world, operation.id, what), variables };
  }

  private async variations(operation: ApiOperation): Promise<Generated[]> {
    if (operation.method === "TRACE" || !this.tried.has(operation.id)) return [];
    const { world, given } = this;
    const setup = await setupFor(operation, { variant: 1 }, world);
    const input = await this.caseInput(operation, setup);
    // What one request deletes is not there for the next.
    const isUsedUp = operation.method === "DELETE" && setup.asks.length > 0;
    const { cases, left } = await casesOf(isUsedUp ? await this.caseInput(operation, undefined) : input);
    if (left > 0) this.notes.push(`${operation.id}: ${left} cases beyond max_cases were left out`);
    const attacks = given.request.security && !isUsedUp ? securityCases(input, this.listener) : [];
    const asks = [...cases, ...attacks]
      .filter(({ kind, request }) => this.mayAsk(request.method) && (!isUsedUp || kind !== "refused"))
      .map((one, at) => askOf(one, `case_${at + 1}`));
    const before = isUsedUp ? [] : setup.asks;
    const tests = isUsedUp
      ? accessCases(input).map(async (one) => {
          const head = await this.headFor(operation, one.label);
          return sequence(head, operation.id, [...setup.asks, askOf(one, "case_1")]);
        })
      : [];
    const head = await this.headFor(operation, "variations");
    return [
      ...(asks.length > 0 ? [independent(head, operation.id, { before, asks })] : []),
      ...(await Promise.all(tests)),
    ];
  }

  private async caseInput(operation: ApiOperation, setup: Setup | undefined): Promise<CaseInput> {
    const { world, given } = this;
    const good = await world.goodOf(operation, 0);
    const parameters = { ...good.values.parameters, ...setup?.parameters };
    const { auth, max_cases: most } = given.request;
    return {
      ...{ operation, world, most, rules: await world.rulesOf(operation) },
      good: { ...good, values: { ...good.values, parameters } },
      expired: auth.expired && credentialsOf(operation, given.spec, auth.expired),
    };
  }

  /** Runs a test as a run within this one, and keeps what its requests showed. */
  private async execute(test: Generated): Promise<Outcome[]> {
    const { run, request, deps } = this.given;
    const { environment, allow_production, timeout_ms } = request;
    const { clock } = deps;
    run.signal.throwIfAborted();
    run.begins(test.testcase.name);
    this.made.push(test);
    const started = clock.monotonic();
    const context = { ...run.context, within: run.id, deadline: Number.POSITIVE_INFINITY };
    const place = { environment, allow_production, kind: "testcase" } as const;
    const asked = { inputs: {}, wait_ms: timeout_ms, timeout_ms, ...place };
    const reply = await deps.testcases
      .executeUnsaved(test.testcase, asked, context)
      .catch((error: unknown) => {
        if (run.signal.aborted) throw error;
        return { status: "error" as const, execution_id: undefined, reason: reasonOf(error) };
      });
    run.verified("verified_count" in reply ? (reply.verified_count ?? 0) : 0);
    const outcomes = reply.execution_id === undefined ? [] : await this.outcomesOf(test, reply.execution_id);
    if (reply.execution_id === undefined)
      this.notes.push(shortened(`${test.testcase.name}: ${reply.reason?.message}`, 500));
    await this.mindReach(test.operation, reply.reason);
    this.outcomes.push(...outcomes);
    for (const { ask } of outcomes) this.tried.add(ask.operation);
    const duration_ms = clock.monotonic() - started;
    const { status, execution_id, reason } = reply;
    const label = test.testcase.name;
    await run.step({
      ...{ path: `test${this.made.length}`, kind: "testcase", label, duration_ms, artifacts: [] },
      status: status === "queued" || status === "running" ? "timeout" : status,
      started_at: new Date(clock.now() - duration_ms).toISOString(),
      ...{ input: { operation: test.operation }, output: { execution_id, status } },
      ...(reason && status !== "passed" && { error: reason }),
    });
    return outcomes;
  }

  /** A server that never answered, or stays away, ends the run. */
  private async mindReach(
    operation: string,
    reason: { code: string; message: string } | undefined,
  ): Promise<void> {
    if (reason?.code !== "APP_UNREACHABLE" && reason?.code !== "URL_DENIED") {
      this.unreachable = 0;
      return;
    }
    const waitMs = patienceMs[this.unreachable];
    if (this.unreachable === 0) this.notes.push(shortened(`${operation}: ${reason.message}`, 400));
    this.unreachable += 1;
    const hasAnswered = this.outcomes.some(({ step }) => outputOf(step).status !== undefined);
    if (waitMs === undefined || reason.code === "URL_DENIED" || !hasAnswered) this.brokenBy = reason;
    else await paused(waitMs, this.given);
  }

  private async outcomesOf({ asks }: Generated, executionId: string): Promise<Outcome[]> {
    const { steps } = await this.given.deps.executions.get(executionId);
    const setup = asks.filter(({ kind, id }) => kind === "setup" && id.startsWith("setup_"));
    let last: Outcome["before"];
    return steps.flatMap((step): Outcome[] => {
      const ask = asks.find(({ id }) => id === step.path);
      if (step.kind === "api_request") last = step;
      if (!ask) return [];
      const before = steps.find(({ path }) => path === ask.shows) ?? last;
      return [{ ask, step, execution_id: executionId, before, setup }];
    });
  }
}

const paused = (ms: number, { run, deps }: Given): Promise<void> =>
  untilAborted(new Promise<void>((resolve) => void deps.clock.setTimeout(resolve, ms)), run.signal);
