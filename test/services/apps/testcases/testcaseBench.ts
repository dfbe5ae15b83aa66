import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { ToolError } from "@labwright/mcp-server";
import {
  createSchemaChecker,
  type SchemaChecker,
} from "#mcp-server/services/apps/apis/requests/schemaChecker.ts";
import {
  createTestcases,
  type ExecuteRequest,
  type NavigationOutcome,
  type NavigationRequest,
  type TestcaseReply,
} from "#mcp-server/services/apps/testcases/index.ts";
import type { AppView } from "#mcp-server/services/apps/userinterfaces/index.ts";
import { createActions } from "#mcp-server/services/devices/actions/index.ts";
import { createScreen } from "#mcp-server/services/devices/screen/screenService.ts";
import { createVerifications } from "#mcp-server/services/devices/verifications/index.ts";
import type {
  ActionExecutor,
  ArtifactStore,
  CallContext,
  Clock,
  ExecutionService,
  Run,
  ScriptPort,
  StoredEvent,
} from "#mcp-server/services/index.ts";
import { allowedFetch } from "#mcp-server/services/policy/allowedFetch.ts";
import { createUploads } from "#mcp-server/services/policy/uploads.ts";
import { createUrlPolicy } from "#mcp-server/services/policy/urlPolicy.ts";
import { systemClock } from "#mcp-server/services/records/clock.ts";
import { createExecutions } from "#mcp-server/services/records/executions/index.ts";
import { createNotices } from "#mcp-server/services/records/notices.ts";
import { createReports } from "#mcp-server/services/runs/reports/index.ts";
import { findScript } from "#mcp-server/services/runs/scripts/folder.ts";
import { eventRows, type Storage } from "#mcp-server/storage/index.ts";
import { executionRows } from "#mcp-server/storage/rows/executionRows.ts";
import { testcaseRows } from "#mcp-server/storage/rows/testcaseRows.ts";
import { callContext } from "../../../fixtures/callContext.ts";
import { noArtifacts } from "../../../fixtures/noArtifacts.ts";
import { noInputs, simulatedDevices, testSecrets } from "../../../fixtures/simulated.ts";
import { builtInVerbs } from "../../../fixtures/verbs.ts";

export type BenchOptions = {
  clock?: Clock;
  latencyMs?: number;
  secrets?: Record<string, string>;
  /** What navigation answers, by target; any other target is reached and verified. */
  navigate?: (request: NavigationRequest, run: Run) => Promise<NavigationOutcome>;
  screenFault?: ToolError;
  /** What every command of the device reads. */
  reads?: Record<string, unknown>;
  uploads?: string;
  /** The thread that checks by JSON Schema; one that finds no built file when left out. */
  schemas?: SchemaChecker;
  environments?: Record<string, { variables: Record<string, unknown> }>;
  /** What runs scripts; none is known when left out. */
  scripts?: ScriptPort;
};

/** A node that no check proves. */
const nodeCalled = (label: string) => ({
  ...{ id: `id-${label}`, label, verifications: [], pass_condition: "all" as const },
});

/** Apps that the tests know: `box` of the simulated device. */
const apps: Readonly<Record<string, AppView>> = {
  box: {
    ...{ id: "box-id", name: "box", project: "" },
    variables: { app: { url: "http://box.test/" }, greeting: "Welcome" },
    nodes: ["Home", "Movies", "Settings"].map(nodeCalled),
    start: {},
  },
  other: {
    ...{ id: "other-id", name: "other", project: "" },
    variables: { app: {}, greeting: "Nothing" },
    nodes: [nodeCalled("Home")],
    start: {},
  },
};

const noScripts: ScriptPort = {
  find: async (name) => findScript([], name),
  runWithin: async (_run, { script }) => Promise.reject(new Error(`no script ${script}`)),
};

/** Artifacts in memory, content-addressed as on disk. */
export function memoryArtifacts(): ArtifactStore {
  const kept = new Map<string, { bytes: Uint8Array; mimeType: string }>();
  const put: ArtifactStore["put"] = async (bytes, mimeType) => {
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    kept.set(sha256, { bytes, mimeType });
    return { uri: `artifact://${sha256}`, sha256, mime_type: mimeType, bytes: bytes.byteLength };
  };
  return {
    put,
    putFile: async (path, mimeType) => put(await readFile(path), mimeType),
    async get(sha256) {
      const found = kept.get(sha256);
      if (found) return found;
      throw new ToolError("ARTIFACT_NOT_FOUND", `There is no artifact ${sha256}.`, "Look at the execution.");
    },
    startingWith: async (prefix) => [...kept.keys()].filter((name) => name.startsWith(prefix)),
  };
}

/** Test cases over a real database, a simulated box, real checks and actions; only navigation answers as reported. */
export function openBench(storage: Storage, options: BenchOptions = {}) {
  const clock = options.clock ?? systemClock;
  const secrets = testSecrets(options.secrets);
  const { db } = storage;
  const devices = simulatedDevices({ clock, latencyMs: options.latencyMs ?? 0 });
  const artifacts = memoryArtifacts();
  const screen = createScreen(artifacts, systemClock);
  const verifications = createVerifications({ clock: systemClock, secrets, screen, inputs: noInputs });
  const notices = createNotices();
  const faults: unknown[] = [];
  const events = eventRows(db);
  const executions: ExecutionService = createExecutions({
    notices,
    rows: executionRows(db),
    devices,
    events: {
      append: (tx, event) => events.append(tx, { ...event, at: new Date(clock.now()).toISOString() }),
    },
    secrets,
    clock,
    host: "lab",
    onError: (error) => faults.push(error),
  });
  const policy = createUrlPolicy({ allow: [], deny: [] }, { port: () => undefined });
  const testcases = createTestcases({
    environments: options.environments ?? {},
    rows: testcaseRows(db),
    rowsIn: testcaseRows,
    transaction: (work) => db.transaction(work),
    lastRun: executionRows(db).lastRun,
    verbs: builtInVerbs,
    devices,
    executions,
    actions: reading(
      createActions({ artifacts: noArtifacts, notices, clock: systemClock, secrets, verifications }),
      options.reads,
    ),
    verifications,
    navigation: {
      navigate: (run, request) =>
        options.navigate
          ? options.navigate(request, run)
          : Promise.resolve({ reached: true, verified: true }),
    },
    scripts: options.scripts ?? noScripts,
    screen: {
      slowness: (deviceId) => screen.slowness(deviceId),
      async capture(device, signal) {
        if (options.screenFault) throw options.screenFault;
        return screen.capture(device, signal);
      },
    },
    secrets,
    clock,
    http: (url, init) => allowedFetch(policy, url, init),
    uploads: createUploads(options.uploads ?? "/nowhere"),
    schemas: options.schemas ?? createSchemaChecker(),
    apps: {
      async describe(name) {
        const found = apps[name];
        if (found) return found;
        throw new ToolError(
          "USERINTERFACE_NOT_FOUND",
          `There is no userinterface "${name}".`,
          "Did you mean box?",
        );
      },
    },
  });
  const reports = createReports({
    ...{ executions, artifacts, secrets, clock },
    judgements: { of: async () => [] },
    records: { ofTest: async () => [], marksBefore: async () => new Map() },
    eventRows: { ofType: async () => [] },
    requirementsOf: async () => [],
  });
  return { testcases, executions, reports, artifacts, secrets, devices, clock, faults, events };
}
export type Bench = ReturnType<typeof openBench>;

/** The same actions, as on a device whose commands read something. */
function reading(actions: ActionExecutor, data: BenchOptions["reads"]): ActionExecutor {
  if (!data) return actions;
  return {
    list: (device) => actions.list(device),
    describe: (device, name) => actions.describe(device, name),
    validate: (device, list) => actions.validate(device, list),
    async run(device, batch, options) {
      const report = await actions.run(device, batch, options);
      return { ...report, results: report.results.map((result) => ({ ...result, data })) };
    },
  };
}

type Given = Record<string, unknown>;
let count = 0;

/** A graph of these blocks (`b0` … without an id): start, one after the other on success, an end. `more` edges on top. */
export function chain(
  blocks: readonly Given[],
  more: readonly Given[] = [],
): { blocks: Given[]; edges: Given[] } {
  const named = blocks.map((block, at) => ({ id: `b${at}`, ...block }));
  const all: Given[] = [{ id: "start", type: "start" }, ...named, { id: "done", type: "success" }];
  const ids = all.map(({ id }) => id);
  const edges = ids.slice(1).map((to, index) => ({ from: ids[index], to, on: "success" }));
  return { blocks: all, edges: [...edges, ...more] };
}

/** A test case with a name of its own. */
export function testcase(graph: { blocks: Given[]; edges: Given[] }, more: Given = {}): Given {
  count += 1;
  return { name: `test ${count}`, ...graph, ...more };
}

export const sees = (id: string, text: string, more: Given = {}): Given => ({
  id,
  type: "verification",
  command: "text_visible",
  params: { text },
  timeout_ms: 0,
  ...more,
});

export const click = (id: string, selector: string, more: Given = {}): Given => ({
  id,
  type: "action",
  command: "click_element",
  params: { selector },
  ...more,
});

/** Saves and runs; the reply with the execution's steps. */
export async function runSaved(
  bench: Bench,
  given: Given,
  request: Partial<ExecuteRequest> = {},
  context: CallContext = callContext(),
): Promise<TestcaseReply & { steps: Awaited<ReturnType<ExecutionService["get"]>>["steps"] }> {
  const { name } = await bench.testcases.save(given, { replace: () => true });
  const reply = await bench.testcases.execute(
    { testcase: name, inputs: {}, wait_ms: 60_000, timeout_ms: 60_000, ...request },
    context,
  );
  return { ...reply, steps: (await bench.executions.get(reply.execution_id)).steps };
}

/** Events of an execution. */
export async function eventsOf(bench: Bench, executionId: string): Promise<StoredEvent[]> {
  const all = await bench.events.read({ after: 0, limit: 10_000 });
  return all.filter(({ execution_id }) => execution_id === executionId);
}

export const statuses = (steps: readonly { path: string; status: string }[]): string[] =>
  steps.map(({ path, status }) => `${path} ${status}`);
