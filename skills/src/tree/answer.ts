import { nearest } from "../nearest.ts";
import { end, enter, note, takeDecision } from "./path.ts";
import { addEvidence, mainLane, mainOf, type Run } from "./run.ts";
import { type Effect, type Handoff, type Scope, TreeError, type TreeInput } from "./types.ts";

type Answer = Extract<TreeInput, { type: "answer" }>;

/** Applies a person's answer to the handoff that waits. */
export function applyAnswer(run: Run, { handoff: id, answer, context }: Answer): void {
  const handoff = openOne(run, id);
  const text = answer.trim();
  const option = optionOf(handoff, text);
  if (option === undefined) refuseMisspelt(handoff, text);
  handoff.answer = { text, option: option?.name ?? null, at: run.at };
  run.state.waited_ms += Math.max(0, run.at - handoff.asked_at);
  if (context !== undefined) run.state.context = merged(run.state.context, context);
  if (option !== undefined) applyEffect(run, option.effect);
  else if (handoff.trigger === "critical_decision") rejectCritical(run, handoff);
  else takeCause(run, text);
}

function openOne({ state }: Run, id: string): Handoff {
  const handoff = state.handoffs.find((one) => one.id === id);
  if (handoff === undefined)
    throw new TreeError(
      "NO_HANDOFF",
      `No question ${id} was asked.`,
      "Read the state for the question that waits.",
    );
  if (handoff.answer !== null)
    throw new TreeError(
      "ALREADY_ANSWERED",
      `The question ${id} was answered already: ${handoff.answer.text}.`,
      "Read the state for the question that waits.",
    );
  return handoff;
}

const folded = (text: string) => text.trim().toLowerCase();

function optionOf({ options }: Handoff, text: string): Handoff["options"][number] | undefined {
  const byName = options.find(({ name, title }) => [name, title].map(folded).includes(folded(text)));
  return byName ?? (/^\d{1,2}$/.test(text) ? options[Number(text) - 1] : undefined);
}

/** One word is a misspelt option rather than a cause. */
function refuseMisspelt({ options }: Handoff, text: string): void {
  if (/\S\s+\S/.test(text)) return;
  const names = options.map(({ name }) => name);
  const [best] = nearest(text, names, 1);
  throw new TreeError(
    "UNKNOWN_OPTION",
    `"${text}" is not an option${best === undefined ? "" : `; the nearest is ${best}`}.`,
    `Answer with one of ${names.join(", ")}, or with a sentence.`,
  );
}

function applyEffect(run: Run, effect: Effect): void {
  const { state } = run;
  const main = mainOf(state);
  if (effect.do === "take")
    takeDecision(run, main, effect.decision, { by: "person", approved: effect.approved });
  else if (effect.do === "go") goTo(run, effect.step);
  else if (effect.do === "cause") state.settled.cause = effect.lane;
  else if (effect.do === "accept") state.settled.accepted = true;
  else if (effect.do === "approve") state.settled.approved = effect.approved;
  else {
    state.settled = { stopped: true, cause: mainLane };
    end(main, null);
  }
}

/** The path goes on at a step of the person's choice, and the merged findings are open again. */
function goTo(run: Run, step: string): void {
  const main = mainOf(run.state);
  note(run, main, { decision: null, confidence: null, next_step: step });
  run.state.settled = {};
  main.conclusion = null;
  main.steps_since = 0;
  enter(run, main, step);
}

/** Other words than a yes are a no. */
function rejectCritical(run: Run, { options }: Handoff): void {
  const reject = options.find(({ name }) => name === "reject");
  if (reject !== undefined) applyEffect(run, reject.effect);
}

function takeCause(run: Run, text: string): void {
  const main = mainOf(run.state);
  const step = main.step ?? "merged findings";
  addEvidence(run, main, { kind: "root_cause", step, finding: text, confidence: 1, by: "person" });
  note(run, main, { decision: null, confidence: 1, next_step: null });
  main.confidence = Math.min(main.confidence ?? 1, 1);
  run.state.settled = { cause: mainLane };
  end(main, { root_cause: text, partial_finding: null, by: "person" });
}

/** Objects are merged, anything else is replaced. */
function merged(old: Scope, added: Scope): Record<string, unknown> {
  const entries = Object.entries(added).map(([name, value]) => {
    const before = Object.hasOwn(old, name) ? old[name] : undefined;
    return [name, isObject(value) && isObject(before) ? merged(before, value) : value] as const;
  });
  return { ...old, ...Object.fromEntries(entries) };
}

const isObject = (value: unknown): value is Scope =>
  typeof value === "object" && value !== null && !Array.isArray(value);
