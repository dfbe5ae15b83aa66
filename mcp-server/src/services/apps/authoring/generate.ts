import type { Edge, TestCaseInput } from "../../../domain/index.ts";
import { checksOf, commandsOf } from "../../devices/findCommand.ts";
import type { CallContext, DeviceRef, DeviceService } from "../../ports.ts";
import { describeStep, graphOf } from "./graph.ts";
import { readSentence } from "./phrases.ts";
import { sentencesOf } from "./sentences.ts";
import type { NotUnderstood, Place, Step, Vocabulary } from "./types.ts";

const mostLines = 10;
const longestLine = 120;
/** As much as a test case keeps; each step has its own words as its label. */
const longestDescription = 2_000;

type ReadRequest = DeviceRef & { userinterface_name: string; description: string };
type GenerateRequest = ReadRequest & { name: string; save: boolean };

/** `steps` and `not_understood` are lines: a sentence, and its meaning or why it is not understood. */
type GenerateReply =
  | { saved: true; testcase_id: string; name: string; steps: string }
  | { saved: false; name: string; steps: string; testcase: TestCaseInput }
  | { saved: false; name: string; understood: number; not_understood: string[] };

type Tree = { nodes: ReadonlyMap<string, Place>; edges: ReadonlyMap<string, Pick<Edge, "action_sets">> };

export type AuthoringDependencies = {
  apps: { load(userinterface: string): Promise<Tree> };
  testcases: {
    names(): Promise<string[]>;
    /** Throws ALREADY_EXISTS and what a save throws. */
    createFor(
      testcase: unknown,
      device: DeviceRef,
      context: CallContext,
      save: boolean,
    ): Promise<{ id: string | undefined; testcase: TestCaseInput }>;
  };
  devices: Pick<DeviceService, "offering">;
};

export type AuthoringService = ReturnType<typeof createAuthoring>;

/** Makes test cases of words, without a model. */
export const createAuthoring = (deps: AuthoringDependencies) => ({
  /** Reads a task that runs now and is not kept: names need no quotes where they are clear. */
  readTask: (request: ReadRequest, context: CallContext) => readDescription(deps, request, context, "words"),
  /** Saves only if every sentence is understood. Throws ALREADY_EXISTS, EMPTY_TEST, TESTCASE_INVALID, USERINTERFACE_NOT_FOUND. */
  async generate(request: GenerateRequest, context: CallContext): Promise<GenerateReply> {
    const { name, userinterface_name, description } = request;
    const { steps, not_understood } = await readDescription(deps, request, context);
    if (not_understood.length > 0) return { saved: false, name, understood: steps.length, not_understood };
    const lines = steps.map((step, at) => `${at + 1} ${describeStep(step)}`).join("\n");
    const kept = description.slice(0, longestDescription);
    const given = { name, userinterface_name, description: kept, ...graphOf(steps) };
    const { id, testcase } = await deps.testcases.createFor(given, request, context, request.save);
    if (id === undefined) return { saved: false, name, steps: lines, testcase };
    return { saved: true, testcase_id: id, name: testcase.name, steps: lines };
  },
});

/** What the sentences of a description mean; `not_understood` has a line for each of the others. */
async function readDescription(
  deps: AuthoringDependencies,
  request: ReadRequest,
  context: CallContext,
  unquoted?: Vocabulary["unquoted"],
): Promise<{ steps: Step[]; not_understood: string[] }> {
  const vocabulary = { ...(await vocabularyOf(deps, request, context)), ...(unquoted && { unquoted }) };
  const readings = sentencesOf(request.description).flatMap((sentence) => readSentence(sentence, vocabulary));
  return {
    steps: readings.flatMap((reading) => ("step" in reading ? [reading.step] : [])),
    not_understood: linesOf(readings.flatMap((reading) => ("not" in reading ? [reading.not] : []))),
  };
}

async function vocabularyOf(
  { apps, testcases, devices }: AuthoringDependencies,
  { userinterface_name, device_id, session_id }: ReadRequest,
  context: CallContext,
): Promise<Vocabulary> {
  const tree = await apps.load(userinterface_name);
  const isNamed = device_id !== undefined || session_id !== undefined;
  const device = isNamed ? await devices.offering({ device_id, session_id }, context) : undefined;
  return {
    places: [...tree.nodes.values()],
    names: namesIn(tree),
    testcases: await testcases.names(),
    commands: device && new Set(commandsOf(device).map(({ command }) => command.name)),
    checks: device && new Set(checksOf(device).map(({ check }) => check.name)),
  };
}

/** The elements and texts that the tree's actions and checks name. */
function namesIn({ nodes, edges }: Tree): string[] {
  const actions = [...edges.values()].flatMap(({ action_sets }) => action_sets.flatMap((set) => set.actions));
  const checks = [...nodes.values()].flatMap(({ verifications }) => verifications);
  const values = [...actions, ...checks].flatMap(({ params }) => [params.selector, params.text]);
  return [...new Set(values)].filter((value) => typeof value === "string");
}

function linesOf(notUnderstood: readonly NotUnderstood[]): string[] {
  const lines = notUnderstood.slice(0, mostLines).map(({ line, reason, nearest = [] }) => {
    const said = line.length > longestLine ? `${line.slice(0, longestLine)}…` : line;
    return `${said}: ${reason}${nearest.length > 0 ? `; nearest: ${nearest.join(", ")}` : ""}`;
  });
  const more = notUnderstood.length - mostLines;
  return more > 0 ? [...lines, `… ${more} more`] : lines;
}
