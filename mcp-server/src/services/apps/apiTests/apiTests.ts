import { nearest } from "@labwright/controllers";
import type { ApiOperation, ApiSpec, ApiTestResult, FaultId, FinalStatus } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import type { ProductionPolicy } from "../../policy/production.ts";
import type { CallContext, Clock, ExecutionService, Run, RunReply } from "../../ports.ts";
import type { ApiService } from "../apis/index.ts";
import type { SchemaChecker } from "../apis/requests/schemaChecker.ts";
import type { TestcaseService } from "../testcases/index.ts";
import { Campaign } from "./campaign.ts";
import { findingsOf, timingsOf } from "./findings.ts";
import type { Role } from "./requests.ts";
import { type ApiEnd, apiEnd } from "./result.ts";

export type ApiTestRequest = {
  /** Name of an imported spec; the only one without. */
  api?: string | undefined;
  operations?: readonly string[] | undefined;
  tags?: readonly string[] | undefined;
  /** As `x-priority` of the operations says. */
  priority?: readonly string[] | undefined;
  base_url?: string | undefined;
  /** Credentials by role. The first role makes the requests, the second one is another user; `expired` must be refused. */
  auth: Readonly<Record<string, Role>>;
  environment?: string | undefined;
  allow_production?: boolean | undefined;
  /** For made values; told in the result. Random when left out. */
  seed?: number | undefined;
  /** Only these are reported. */
  faults?: readonly FaultId[] | undefined;
  save: boolean;
  /** The most cases of each operation. */
  max_cases: number;
  wait_ms: number;
  timeout_ms: number;
};

export type ApiTestReply = Omit<RunReply<never>, "output"> & ApiEnd;

export type ApiTestDependencies = {
  apis: Pick<ApiService, "find">;
  testcases: Pick<TestcaseService, "executeUnsaved" | "save">;
  executions: Pick<ExecutionService, "run" | "get">;
  production: Pick<ProductionPolicy, "judgeWrite">;
  schemas: Pick<SchemaChecker, "check">;
  clock: Clock;
};

export type ApiTestService = Pick<ApiTests, "run">;
export const createApiTests = (deps: ApiTestDependencies): ApiTestService => new ApiTests(deps);

const mostTimings = 10;

class ApiTests {
  constructor(private readonly deps: ApiTestDependencies) {}

  /**
   * Tries the operations of an API: each generated test case is a run within this one. `failed` when there is a finding,
   * `error` when no operation could be judged. Throws API_NOT_FOUND, INVALID_INPUT for unknown operations or no address.
   */
  async run(request: ApiTestRequest, context: CallContext): Promise<ApiTestReply> {
    const spec = await this.deps.apis.find(request.api);
    const operations = chosenOf(spec, request);
    const baseUrl = baseOf(spec, request);
    const readsOnly = this.readsOnly(operations, baseUrl, request);
    const seed = request.seed ?? Math.floor(Math.random() * 0x7fff_ffff);
    const { auth: _auth, wait_ms, timeout_ms, environment, ...input } = request;
    const { output, ...reply } = await this.deps.executions.run<ApiTestResult>(
      {
        ...{ kind: "api", name: `API tests of ${spec.name}`.slice(0, 120), device: "none", environment },
        ...{ input: { ...input, seed, base_url: baseUrl }, wait_ms, timeout_ms },
      },
      context,
      async (run) => {
        const campaign = new Campaign({
          spec,
          operations,
          baseUrl,
          seed,
          readsOnly,
          request,
          run,
          deps: this.deps,
        });
        await campaign.run();
        return this.endOf(campaign, { request, spec, seed, baseUrl }, run);
      },
    );
    return { ...reply, ...apiEnd(output) };
  }

  /** Whether nothing may be written there. Throws POLICY_DENIED if an operation that was chosen would. */
  private readsOnly(
    operations: readonly ApiOperation[],
    url: string,
    { environment, allow_production: grant }: ApiTestRequest,
  ): boolean {
    const { production } = this.deps;
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
      seed,
      baseUrl,
    }: { request: ApiTestRequest; spec: ApiSpec; seed: number; baseUrl: string },
    run: Run,
  ): Promise<{ status: FinalStatus; reason?: { code: string; message: string }; output: ApiTestResult }> {
    const { outcomes, notReached, notes } = campaign;
    const found = [...findingsOf(outcomes), ...campaign.ownFindings()];
    const findings = found.filter(({ fault }) => !request.faults || request.faults.includes(fault));
    const names = campaign.operations.map(({ id }) => id);
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

function chosenOf(spec: ApiSpec, { operations: wanted, tags, priority }: ApiTestRequest): ApiOperation[] {
  const known = spec.operations.map(({ id }) => id);
  const unknown = (wanted ?? []).filter((id) => !known.includes(id));
  if (unknown.length > 0)
    throw new ToolError(
      "OPERATION_NOT_FOUND",
      `The API "${spec.name}" has no operation ${unknown.map((id) => `"${id}"`).join(", ")}.`,
      "list_api_operations lists them.",
      { candidates: unknown.flatMap((id) => nearest(id, known, 3)) },
    );
  const isOf = (list: readonly string[] | undefined, own: readonly unknown[]) =>
    !list || own.some((one) => list.includes(String(one)));
  const chosen = spec.operations.filter(
    ({ id, tags: own, extensions }) =>
      isOf(wanted, [id]) && isOf(tags, own) && isOf(priority, [extensions["x-priority"]]),
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
