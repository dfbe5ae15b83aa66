import { randomUUID } from "node:crypto";
import { actionSchema, type Step, type Verification } from "#mcp-server/domain/index.ts";
import { type AppFilesDependencies, createAppFiles } from "#mcp-server/services/apps/files/index.ts";
import { createNavigation } from "#mcp-server/services/apps/navigation/index.ts";
import { createUserInterfaces } from "#mcp-server/services/apps/userinterfaces/index.ts";
import { createActions } from "#mcp-server/services/devices/actions/index.ts";
import { createVerifications } from "#mcp-server/services/devices/verifications/index.ts";
import type {
  ActionExecutor,
  CallContext,
  Clock,
  OpenDevice,
  Run,
  ScreenService,
} from "#mcp-server/services/index.ts";
import { systemClock } from "#mcp-server/services/records/clock.ts";
import { createExecutions } from "#mcp-server/services/records/executions/index.ts";
import { createNotices } from "#mcp-server/services/records/notices.ts";
import type { Database } from "#mcp-server/storage/index.ts";
import { executionRows } from "#mcp-server/storage/rows/executionRows.ts";
import { callContext } from "../../../fixtures/callContext.ts";
import { noArtifacts } from "../../../fixtures/noArtifacts.ts";
import { noInputs, simulatedDevices, testSecrets } from "../../../fixtures/simulated.ts";
import { builtInVerbs } from "../../../fixtures/verbs.ts";

/** An app without test cases. */
export const noTestcases: AppFilesDependencies["testcases"] = {
  exportFor: async () => [],
  importAll: async () => ({ names: [] }),
  problemsIn: async () => [],
  written: async () => [],
  keepSources: () => undefined,
};

export const noReferences: AppFilesDependencies["references"] = {
  exportFor: async () => [],
  importAll: async () => undefined,
  removeOrphans: async () => {},
  keepSources: () => undefined,
};

export type LabOptions = {
  /** What reports the age of positions and the time of runs. */
  clock?: Clock;
  latencyMs?: number;
  /** Stands between navigation and the real executor. */
  wrapActions?: (actions: ActionExecutor) => ActionExecutor;
};

const noScreen: Pick<ScreenService, "capture"> = { capture: async () => undefined };

/** Navigation over the simulated set-top box, with the real executors and a real database. */
export async function openLab(db: Database, options: LabOptions = {}) {
  const clock = options.clock ?? systemClock;
  const secrets = testSecrets();
  const devices = simulatedDevices({ latencyMs: options.latencyMs ?? 0, names: [`box-${randomUUID()}`] });
  const screen: ScreenService = {
    capture: noScreen.capture,
    screenshot: () => Promise.reject(new Error("not here")),
    dump: () => Promise.reject(new Error("not here")),
    slowness: () => undefined,
    store: () => Promise.reject(new Error("not in this test")),
    changes: async () => undefined,
  };
  const verifications = createVerifications({ clock: systemClock, secrets, screen, inputs: noInputs });
  const executor = createActions({
    artifacts: noArtifacts,
    notices: createNotices(),
    clock: systemClock,
    secrets,
    verifications,
  });
  const actions = options.wrapActions?.(executor) ?? executor;
  const userinterfaces = createUserInterfaces({ db, clock });
  const files = createAppFiles({
    ...{ db, clock },
    userinterfaces,
    testcases: noTestcases,
    references: noReferences,
    verbs: builtInVerbs,
  });
  const executions = createExecutions({
    notices: createNotices(),
    rows: executionRows(db),
    devices,
    events: { append: async () => undefined },
    secrets,
    clock: systemClock,
    host: "lab",
  });
  const navigation = createNavigation({
    db,
    clock,
    actions,
    verifications,
    screen,
    devices,
    executions,
    userinterfaces,
    positionStaleMs: 30_000,
  });
  const { device } = await devices.acquire({}, callContext(), { drives: false });
  return {
    navigation,
    userinterfaces,
    files,
    devices,
    device,
    executions,
    clock,
    verifications,
    actions,
    screen,
    secrets,
  };
}
export type Lab = Awaited<ReturnType<typeof openLab>>;

/** A run that keeps what it is reported. */
export function fakeRun(device: OpenDevice, signal: AbortSignal = new AbortController().signal) {
  const steps: Omit<Step, "index">[] = [];
  const counted = { checks: 0 };
  const context: CallContext = callContext({ signal });
  const run: Run = {
    id: randomUUID(),
    kind: "navigation",
    device,
    signal,
    context,
    noticesBefore: [],
    step: async (step) => {
      steps.push(step);
      return [];
    },
    begins: () => undefined,
    verified: (count) => {
      counted.checks += count;
    },
  };
  return { run, steps, counted };
}

export const shows = (text: string): Verification => ({
  command: "text_visible",
  params: { text },
  timeout_ms: 200,
});
export const click = (selector: string) => ({ command: "click_element", params: { selector } });
export const press = (key: string) => ({ command: "press_key", params: { key } });

export type Place = { label: string; type?: string; verifications?: Verification[]; subtree?: object };
export const place = (label: string, text: string, rest: Partial<Place> = {}): Place => ({
  ...{ label, verifications: [shows(text)] },
  ...rest,
});

/** An edge with its actions there and back; `rest` has other properties of it. */
export const way = (
  source: string,
  target: string,
  there: readonly object[],
  back?: readonly object[],
  rest: object = {},
) => ({
  source,
  target,
  action_sets: [{ actions: there }, ...(back ? [{ direction: "reverse", actions: back }] : [])],
  ...rest,
});

/** Acts on the device as another client would. */
export async function act(lab: Lab, ...actions: { command: string; params: object }[]): Promise<void> {
  const report = await lab.actions.run(
    lab.device,
    { actions: actionSchema.array().parse(actions), retry_actions: [], failure_actions: [] },
    { variables: {}, signal: new AbortController().signal },
  );
  if (!report.ok) throw new Error(report.results[0]?.message);
}
export const drive = (lab: Lab, key: string): Promise<void> => act(lab, press(key));

type Tree = { nodes: Place[]; edges?: object[] };

/** Navigates in an app of the lab, each time in a run of its own. */
function goer(lab: Lab, app: string) {
  return async (
    target: string,
    { fake = fakeRun(lab.device), ...rest }: { fake?: Fake; timeout_ms?: number } = {},
  ) => {
    const report = await lab.navigation.navigate(fake.run, { userinterface: app, target, ...rest });
    const labels = fake.steps.map(({ label }) => label);
    return { ...fake, report, labels, trail: report.legs.map(({ from, to }) => `${from} ${to}`) };
  };
}
type Fake = ReturnType<typeof fakeRun>;

/** A lab with an app of these nodes and edges. */
export async function labOf(db: Database, tree: Tree, app: object = {}) {
  const lab = await openLab(db);
  const name = `app ${randomUUID()}`;
  await lab.files.importYaml(JSON.stringify({ name, models: ["simulated"], app, tree }), false);
  return { lab, name, go: goer(lab, name) };
}

/** A lab with the box's app in it under a name of its own. */
export async function labWith(
  db: Database,
  edges: Readonly<Record<string, object | undefined>> = {},
  options: LabOptions = {},
) {
  const lab = await openLab(db, options);
  const app = `box ${randomUUID()}`;
  await lab.files.importYaml(boxYaml(app, edges), false);
  const position = (identify = false) =>
    lab.navigation.position(lab.device, { userinterface_name: app, identify }, new AbortController().signal);
  return { ...lab, lab, app, go: goer(lab, app), position };
}

/**
 * The box as an app: Start (entry) → Home by the HOME key; from Home to Live, Movies and Settings, and back. `edges`
 * replaces or adds edges by `Source → Target`.
 */
export function boxYaml(name: string, edges: Readonly<Record<string, object | undefined>> = {}): string {
  const all = {
    "Start → Home": way("Start", "Home", [press("HOME")]),
    "Home → Live": way("Home", "Live", [click("Live TV")], [press("BACK")]),
    "Home → Movies": way("Home", "Movies", [click("Movies")], [press("BACK")]),
    "Home → Settings": way("Home", "Settings", [click("Settings")], [press("BACK")]),
    ...edges,
  };
  return JSON.stringify({
    format_version: 1,
    name,
    models: ["simulated"],
    variables: { home_text: "Welcome home" },
    tree: {
      nodes: [
        { label: "Start", type: "entry" },
        place("Home", "{{home_text}}"),
        place("Live", "Now playing"),
        place("Movies", "All movies"),
        place("Settings", "Device settings"),
        { label: "Blind" },
        { label: "Mute", type: "action" },
      ],
      edges: Object.values(all).filter((edge) => edge !== undefined),
    },
  });
}
