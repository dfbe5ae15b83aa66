import type { PersonDeed, Selector } from "@labwright/controllers";
import type { Verification } from "../../../domain/index.ts";

type Params = Readonly<Record<string, unknown>>;
type Did = Extract<PersonDeed, { kind: "did" }>;

/** One step as a batch or a check takes it. `by`: a person by hand, a tool, or a person who pointed at what to check. */
export type RecordedStep = {
  command: string;
  params: Params;
  negate?: boolean | undefined;
  timeout_ms?: number | undefined;
  by: "person" | "tool" | "picked";
  /** Role and name of its element, for people. */
  about?: string;
  /** Number of the screen that it led to, where that is another one than before. */
  screen?: number;
  /** Proves this arrival there. */
  arrival?: Verification | undefined;
  /** Checks of what it changed, the best first. */
  proposals?: Verification[];
  /** What the person must do before it can run again. */
  remark?: string;
};

/** The best selector that finds the element alone; undefined where none does. */
export const bestOf = (selectors: readonly Selector[]): string | undefined =>
  selectors.find(({ unique }) => unique)?.selector;

/** The steps with a person's deed added. A deed whose element no selector finds alone is kept, with a remark. */
export function withDeed(steps: readonly RecordedStep[], deed: Did): RecordedStep[] {
  const step = stepOf(deed);
  const kept = withoutReplaced(steps, deed.replaces);
  const last = kept.at(-1);
  if (deed.isBefore) return last ? [...kept.slice(0, -1), step, last] : [step];
  if (last && isSameField(last, step)) return [...kept.slice(0, -1), step];
  if (last && isSameKey(last, step)) return [...kept.slice(0, -1), pressedMore(last)];
  return [...kept, step];
}

/** The steps with what a tool did. Text that is typed in several calls is one step; a secret stands for all that its field holds. */
export function withNote(steps: RecordedStep[], step: Omit<RecordedStep, "by">): RecordedStep[] {
  const last = steps.at(-1);
  const [before, secret] = [last && secretIn(last), secretIn(step)];
  const isCorrection = step.command === "press_key" && /^(backspace|delete)$/i.test(String(step.params.key));
  const { selector = last?.params.selector } = step.params;
  const goesOn = secret === before && selector === last?.params.selector;
  if (before !== undefined && (goesOn || isCorrection)) return steps;
  const isTyping = last?.command === "type_text" && last.by === "tool" && step.command === "type_text";
  if (!isTyping || before !== undefined || secret !== undefined) {
    const remark = remarkOf(step.command, step.params, secret);
    return [...steps, { ...step, by: "tool", ...(remark && { remark }) }];
  }
  const text = `${String(last.params.text)}${String(step.params.text)}`;
  return [...steps.slice(0, -1), { ...last, params: { ...last.params, text } }];
}

/** The name of the secret that a step types. */
const secretIn = ({ command, params }: Pick<RecordedStep, "command" | "params">): string | undefined =>
  /^(type|input)_text$/.test(command) ? /^\{\{secret\.(\w+)\}\}$/.exec(String(params.text))?.[1] : undefined;

function stepOf(deed: Did): RecordedStep {
  const { command, params, selectors, onto, role, name, secret } = deed;
  const needsElement = selectors.length > 0 || onto.length > 0;
  const [selector, to] = [bestOf(selectors), bestOf(onto)];
  const targets = {
    ...(selector !== undefined && { selector }),
    ...(to !== undefined && { to_selector: to }),
  };
  const isLost = needsElement && (selector === undefined || (onto.length > 0 && to === undefined));
  const remark = isLost
    ? `No selector finds ${role} "${name}" alone: give it a test id, or correct the step by hand.`
    : remarkOf(command, params, secret);
  // An ambiguous selector says at least which kind of element it was.
  const [anyway] = selectors;
  const all = isLost && anyway ? { selector: anyway.selector, ...targets } : targets;
  const about = [role, name && `"${name}"`].filter(Boolean).join(" ");
  return {
    command,
    params: { ...all, ...params },
    by: "person",
    ...(about && { about }),
    ...(remark && { remark }),
  };
}

function remarkOf(command: string, params: Params, secret: string | undefined): string | undefined {
  if (secret !== undefined)
    return `Set the secret ${secret}: LABWRIGHT_SECRET_${secret}, or secrets in labwright.yaml.`;
  if (command === "upload_file") return `Put ${String(params.files)} into the uploads folder.`;
  return undefined;
}

/** The clicks that a double click consists of. */
function withoutReplaced(steps: readonly RecordedStep[], replaces: number): RecordedStep[] {
  let length = steps.length;
  for (let left = replaces; left > 0 && isClick(steps[length - 1]); left--) length--;
  return steps.slice(0, length);
}

const isClick = (step: RecordedStep | undefined) => step?.command === "click_element" && step.by === "person";

/** Typing that went on after a pause replaces the text again. */
const isSameField = (last: RecordedStep, step: RecordedStep) =>
  step.command === "input_text" &&
  last.command === "input_text" &&
  last.by === "person" &&
  last.params.selector === step.params.selector;

const isSameKey = (last: RecordedStep, step: RecordedStep) =>
  step.command === "press_key" && last.command === "press_key" && last.params.key === step.params.key;

const pressedMore = (step: RecordedStep): RecordedStep => ({
  ...step,
  params: { ...step.params, count: Number(step.params.count ?? 1) + 1 },
});
