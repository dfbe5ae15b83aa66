import { offer } from "../nearest.ts";
import { end, enter, note, takeDecision } from "./path.ts";
import { addEvidence, mainLane, mainOf, type Run } from "./run.ts";
import { type Effect, type Handoff, type Scope, TreeError, type TreeInput } from "./types.ts";

type Answer = Extract<TreeInput, { type: "answer" }>;

/** Applies a person's answer to the handoff that waits. Words that match no option are the cause. */
export function applyAnswer(run: Run, { handoff: id, answer, context }: Answer): void {
  const handoff = openOne(run, id);
  const text = answer.trim();
  const option = optionOf(handoff, text);
  if (option === undefined) refuseMisspelt(handoff, text);
  handoff.answer = { text, option: option?.name ?? null, at: run.at };
  run.state.waited_ms += Math.max(0, run.at - handoff.asked_at);
  if (context !== undefined) run.state.context = merged(run.state.context, context);
  // Before a critical action, other words than a yes are a no.
  const isNo = option === undefined && handoff.trigger === "critical_decision";
  const chosen = isNo ? handoff.options.find(({ name }) => name === "reject") : option;
  if (chosen === undefined) takeCause(run, text);
  else applyEffect(run, chosen.effect);
}

function openOne({ state }: Run, id: string): Handoff {
  const handoff = state.handoffs.find((one) => one.id === id);
  if (handoff?.answer === null) return handoff;
  throw new TreeError(
    handoff ? "ALREADY_ANSWERED" : "NO_HANDOFF",
    handoff
      ? `The question ${id} was answered already: ${handoff.answer?.text}.`
      : `No question ${id} was asked.`,
    "Read the state for the question that waits.",
  );
}

const folded = (text: string) => text.trim().toLowerCase();

function optionOf({ options }: Handoff, text: string): Handoff["options"][number] | undefined {
  const byName = options.find(({ name, title }) => [name, title].map(folded).includes(folded(text)));
  return byName ?? (/^\d{1,2}$/.test(text) ? options[Number(text) - 1] : undefined);
}

/** One word is a misspelt option rather than a cause. */
function refuseMisspelt({ options }: Handoff, text: string): void {
  if (/\s/.test(text)) return;
  const names = options.map(({ name }) => name);
  throw new TreeError(
    "UNKNOWN_OPTION",
    `"${text}" is not an option${offer(text, names)}.`,
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

function takeCause(run: Run, text: string): void {
  const main = mainOf(run.state);
  const step = main.step ?? "merged findings";
  addEvidence(run, main, { kind: "root_cause", step, finding: text, confidence: 1, by: "person" });
  note(run, main, { decision: null, confidence: 1, next_step: null });
  main.confidence ??= 1;
  run.state.settled = { cause: mainLane };
  end(main, { root_cause: text, by: "person" });
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
