import { planOf } from "./plans.ts";
import { look } from "./reads.ts";
import { type OfflineAnswer, type OfflineGiven, type Request, readRequest, Settled } from "./request.ts";
import { run } from "./runs.ts";

/**
 * Does of a request, with no model, what needs no judgement: looks at what is asked for or named, and runs a script or test
 * case that it names and asks to run. Writes nothing else and destroys nothing. Names are taken only when they are those of
 * things that are there; two that fit are a question. Throws what `call` throws.
 */
export async function runOffline(given: OfflineGiven): Promise<OfflineAnswer> {
  const request = readRequest(given);
  const { text, needs } = await answer(request).catch((error: unknown) => {
    if (error instanceof Settled) return error.answer;
    throw error;
  });
  return { text: `${text}\n\n${ending(request)}`, ...(needs && { needs }) };
}

async function answer(request: Request): Promise<OfflineAnswer> {
  const plan = planOf(request.skill);
  if (plan !== undefined && "tool" in plan) return run(request, plan);
  return { text: (await look(request, plan)) ?? nothingDone(request) };
}

function nothingDone({ skill, specs }: Request): string {
  const tools = specs.map(({ name }) => name).join(", ");
  return `${skill.name} takes a model for this request. ${skill.description}\nIts tools: ${tools}.`;
}

/** What an answer of this kind leaves undone is said with how to have it done. */
function ending({ skill, specs }: Request): string {
  const plan = planOf(skill);
  const isWhole = specs.every(({ readOnly }) => readOnly) || (plan !== undefined && "tool" in plan);
  const rest = isWhole ? "" : " Only looked: set ANTHROPIC_API_KEY to have more done.";
  return `Done without a model.${rest}`;
}
