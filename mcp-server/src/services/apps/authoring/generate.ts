import { checksOf, commandsOf } from "../../devices/findCommand.ts";
import type { CallContext } from "../../ports.ts";
import { describeStep, graphOf } from "./graph.ts";
import { readSentence } from "./phrases.ts";
import { sentencesOf } from "./sentences.ts";
import type {
  AuthoringDependencies,
  AuthoringService,
  GenerateReply,
  GenerateRequest,
  NotUnderstood,
  Vocabulary,
} from "./types.ts";

/** Of sentences that are not understood. */
const mostLines = 10;
const longestLine = 120;
/** As much as a test case keeps; each step has its own words as its label. */
const longestDescription = 2_000;

/** Makes test cases of words, without a model. */
export function createAuthoring(deps: AuthoringDependencies): AuthoringService {
  return new Authoring(deps);
}

class Authoring implements AuthoringService {
  private readonly deps: AuthoringDependencies;

  constructor(deps: AuthoringDependencies) {
    this.deps = deps;
  }

  async generate(request: GenerateRequest, context: CallContext): Promise<GenerateReply> {
    const { name, userinterface_name, description } = request;
    const vocabulary = await this.vocabularyOf(request, context);
    const readings = sentencesOf(description).flatMap((sentence) => readSentence(sentence, vocabulary));
    const steps = readings.flatMap((reading) => ("step" in reading ? [reading.step] : []));
    const notUnderstood = readings.flatMap((reading) => ("not" in reading ? [reading.not] : []));
    const told = steps.map((step, at) => `${at + 1} ${describeStep(step)}`).join("\n");
    if (notUnderstood.length > 0) {
      return {
        saved: false,
        name,
        understood: steps.length,
        not_understood: linesOf(notUnderstood),
      };
    }
    const { id, testcase } = await this.deps.testcases.createFor(
      {
        name,
        userinterface_name,
        description: description.slice(0, longestDescription),
        ...graphOf(steps),
      },
      request,
      context,
      request.save,
    );
    if (id === undefined) return { saved: false, name, steps: told, testcase };
    return { saved: true, testcase_id: id, name: testcase.name, steps: told };
  }

  private async vocabularyOf(request: GenerateRequest, context: CallContext): Promise<Vocabulary> {
    const { nodes } = await this.deps.apps.load(request.userinterface_name);
    const { device_id, session_id } = request;
    const isNamed = device_id !== undefined || session_id !== undefined;
    const device = isNamed ? await this.deps.devices.offering({ device_id, session_id }, context) : undefined;
    return {
      places: [...nodes.values()],
      testcases: await this.deps.testcases.names(),
      commands: device && new Set(commandsOf(device).map(({ command }) => command.name)),
      checks: device && new Set(checksOf(device).map(({ check }) => check.name)),
    };
  }
}

/** A line for each sentence: what it says, why it is not understood, and what is nearest. */
function linesOf(notUnderstood: readonly NotUnderstood[]): string[] {
  const lines = notUnderstood.slice(0, mostLines).map(({ line, reason, nearest = [] }) => {
    const said = line.length > longestLine ? `${line.slice(0, longestLine)}…` : line;
    return `${said}: ${reason}${nearest.length > 0 ? `; nearest: ${nearest.join(", ")}` : ""}`;
  });
  const more = notUnderstood.length - mostLines;
  return more > 0 ? [...lines, `… ${more} more`] : lines;
}
