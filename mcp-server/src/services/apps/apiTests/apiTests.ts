import { nearest } from "@labwright/controllers";
import type { ApiOperation, ApiSpec, ApiTestResult, FinalStatus } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import type { CallContext, Run, RunReply } from "../../ports.ts";
import type { Campaign, Given } from "./campaign.ts";
import { findingsOf, timingsOf } from "./findings.ts";
import { noOwnTests, type OwnTests, readOwnTests } from "./ownTests.ts";
import type { ApiTestDependencies, ApiTestRequest } from "./request.ts";
import { type ApiEnd, apiEnd } from "./result.ts";

export type ApiTestReply = Omit<RunReply<never>, "output"> & ApiEnd;

export type ApiTestService = Pick<ApiTests, "run">;
export const createApiTests = (deps: ApiTestDependencies): ApiTestService => new ApiTests(deps);

const mostTimings = 10;

class ApiTests {
  constructor(private readonly deps: ApiTestDependencies) {}

  /**
   * Tries the operations of an API: each generated test case is a run within this one. `failed` when there is a finding,
   * `error` when no operation could be judged. Throws API_NOT_FOUND, INVALID_INPUT for unknown operations or no address.
   */
  async run(asked: ApiTestRequest, context: CallContext): Promise<ApiTestReply> {
    const whole = await this.deps.apis.find(asked.api);
    const own =
      asked.file === undefined ? noOwnTests : await readOwnTests(asked.file, whole, this.deps.uploads);
    const spec = { ...whole, operations: whole.operations.filter(({ id }) => !own.operations[id]?.skip) };
    const request = {
      ...asked,
      auth: { ...own.auth, ...asked.auth },
      base_url: asked.base_url ?? own.base_url,
    };
    const operations = chosenOf(spec, request, own);
    const baseUrl = baseOf(spec, request);
    const readsOnly = this.readsOnly(operations, baseUrl, request);
    const seed = request.seed ?? Math.floor(Math.random() * 0x7fff_ffff);
    const { auth, wait_ms, timeout_ms, environment, ...input } = request;
    const plain = this.plainIn(auth, request);
    const { output, ...reply } = await this.deps.secrets.within(plain, () =>
      this.deps.executions.run<ApiTestResult>(
        {
          ...{ kind: "api", name: `API tests of ${spec.name}`.slice(0, 120), device: "none", environment },
          ...{ input: { ...input, seed, base_url: baseUrl }, wait_ms, timeout_ms },
        },
        context,
        async (run) => {
          // With it comes fast-check, which no other call needs.
          const { Campaign } = await import("./campaign.ts");
          const about = { spec, operations, baseUrl, seed, request };
          const campaign = new Campaign({ ...about, readsOnly, own, run, deps: this.deps });
          await campaign.run();
          return this.endOf(campaign, about, run);
        },
      ),
    );
    return { ...reply, ...apiEnd(output) };
  }

  /** Credentials that were given as they are, by a name: hidden as secrets while the run lasts. A saved test would keep them. */
  private plainIn(auth: ApiTestRequest["auth"], { save }: ApiTestRequest): Record<string, string> {
    const all = Object.entries(auth).flatMap(([role, values]) =>
      Object.entries(values).map(([scheme, value]): [string, string] => [`${role}_${scheme}`, value]),
    );
    const plain = all.filter(([, value]) => this.deps.secrets.named(value).length === 0);
    const [first] = plain;
    if (!save || !first) return Object.fromEntries(plain);
    const hint = "Give it as {{secret.NAME}}, with LABWRIGHT_SECRET_NAME set where the server starts.";
    throw new ToolError("INVALID_INPUT", `auth ${first[0]} would be saved in plain text.`, hint);
  }

  /** Whether nothing may be written there. Throws POLICY_DENIED if an operation that was chosen would. */
  private readsOnly(
    operations: readonly ApiOperation[],
    url: string,
    { environment, allow_production: grant, security }: ApiTestRequest,
  ): boolean {
    const { production } = this.deps;
    // An attack may change data, whatever its method.
    if (security) production.judgeWrite({ environment, method: "POST", url, grant });
    for (const { method } of operations) production.judgeWrite({ environment, method, url, grant });
    try {
      production.judgeWrite({ environment, method: "POST", url, grant });
      return false;
    } catch (error) {
      if (error instanceof ToolError && error.code === "POLICY_DENIED") return true;
      throw error;
    }
  }

  private async endOf(
    campaign: Campaign,
    {
      request,
      spec,
      operations,
      seed,
      baseUrl,
    }: Pick<Given, "request" | "spec" | "operations" | "seed" | "baseUrl">,
    run: Run,
  ): Promise<{ status: FinalStatus; reason?: { code: string; message: string }; output: ApiTestResult }> {
    const { outcomes, notReached, notes } = campaign;
    const found = [...findingsOf(outcomes), ...campaign.ownFindings()];
    const findings = found.filter(({ fault }) => !request.faults || request.faults.includes(fault));
    const names = operations.map(({ id }) => id);
    const output: ApiTestResult = {
      ...{ api: spec.name, seed, base_url: baseUrl, operations: names.length },
      tried: names.filter((id) => campaign.tried.has(id)).length,
      requests: outcomes.filter(({ ask }) => ask.block.type === "api_request").length,
      ...{ findings, not_reached: notReached, timing: timingsOf(outcomes).slice(0, mostTimings), notes },
      ...(request.save && { saved: await campaign.save() }),
    };
    run.signal.throwIfAborted();
    return { ...verdictOf(output, campaign), output };
  }
}

function verdictOf({ findings, operations, not_reached }: ApiTestResult, { brokenBy }: Campaign) {
  if (findings.length > 0) {
    const list = findings.map(({ fault, operation, at }) => `${fault} ${operation} (${at})`);
    const message = `${findings.length} ${findings.length === 1 ? "finding" : "findings"}: ${list.slice(0, 5).join("; ")}`;
    return { status: "failed" as const, reason: { code: "VERIFICATION_FAILED", message } };
  }
  if (brokenBy) return { status: "error" as const, reason: brokenBy };
  if (not_reached.length < operations) return { status: "passed" as const };
  const message = "No operation accepted its good request. Give auth, base_url, or examples in the document.";
  return { status: "error" as const, reason: { code: "NOTHING_VERIFIED", message } };
}

function chosenOf(
  spec: ApiSpec,
  { operations: wanted, tags, priority }: ApiTestRequest,
  own: OwnTests,
): ApiOperation[] {
  const known = spec.operations.map(({ id }) => id);
  const unknown = (wanted ?? []).filter((id) => !known.includes(id));
  if (unknown.length > 0)
    throw new ToolError(
      "OPERATION_NOT_FOUND",
      `The API "${spec.name}" has no operation ${unknown.map((id) => `"${id}"`).join(", ")}.`,
      "list_api_operations lists them.",
      { candidates: unknown.flatMap((id) => nearest(id, known, 3)) },
    );
  const isOf = (list: readonly string[] | undefined, values: readonly unknown[]) =>
    !list || values.some((one) => list.includes(String(one)));
  const chosen = spec.operations.filter(
    ({ id, tags: ownTags, extensions }) =>
      isOf(wanted, [id]) &&
      isOf(tags, ownTags) &&
      isOf(priority, [own.operations[id]?.priority ?? extensions["x-priority"]]),
  );
  if (chosen.length > 0) return chosen;
  throw new ToolError(
    "INVALID_INPUT",
    `No operation of "${spec.name}" is chosen.`,
    "Give other operations, tags or a priority that its x-priority names.",
  );
}

function baseOf({ name, servers }: ApiSpec, { base_url }: ApiTestRequest): string {
  const base = (base_url ?? servers[0] ?? "").replace(/\/+$/, "");
  if (URL.canParse(base) && /^https?:/.test(base)) return base;
  throw new ToolError(
    "INVALID_INPUT",
    `The address of ${name} is not known.`,
    "Give base_url, such as http://localhost:8080.",
  );
}
