import type { Locator } from "playwright-core";
import { unsent } from "../../dispatch.ts";
import { quoted } from "../../elements/quoted.ts";
import type { Target } from "../../elements/target.ts";
import { DeviceError } from "../../errors.ts";
import type { FieldFacts, HeldField } from "../page/agent/answers.ts";
import { askAgent, askElement } from "../page/askAgent.ts";
import { askFrames } from "../page/elementsInFrames.ts";
import type { Action } from "./action.ts";
import { dateForm, isDateType } from "./fieldDates.ts";
import { isTaken } from "./fieldTaken.ts";
import { heldFields } from "./keptInputs.ts";
import { inOneFrame } from "./locate.ts";

export async function noteField(
  action: Action,
  locator: Locator,
  target: Target,
): Promise<FieldFacts | undefined> {
  const place = await inOneFrame(action.session, target, action.signal);
  return askElement(locator, "noteField", [action.token, place?.query ?? null], action.limits);
}

/** Notes the field with the focus; undefined if there is none. */
export async function noteFocused({ page, signal, token }: Action): Promise<FieldFacts | undefined> {
  const answers = await askFrames(page, signal, (frame) => askAgent(frame, "noteFocused", [token]));
  return answers.flatMap(({ answer }) => answer ?? []).at(0);
}

/**
 * Reads the noted field after the page has reacted. `judge` throws if the field did not take the input; else it may return a test by
 * which the input counts as lost later. `gone`: what to report if the field is gone.
 */
function expectHeld(
  action: Action,
  judge: (held: HeldField) => ((now: HeldField) => boolean) | undefined,
  gone?: string,
): void {
  action.whenUsable(async (signal) => {
    const held = (await heldFields(action.page, [action.token], signal)).get(action.token);
    if (held === undefined) return gone;
    const isLost = judge(held);
    if (isLost) action.keepInput(isLost);
    return undefined;
  });
}

/** Throws INPUT_NOT_TAKEN unless the field holds one of the texts after the page has reacted. */
export function expectText(action: Action, ...asked: readonly string[]): void {
  expectHeld(
    action,
    (held) => {
      if (held.now.type === "none" || !held.before.seen) return undefined;
      const isHeld = (now: HeldField) => asked.some((text) => holds(now, text));
      if (!isHeld(held)) throw textNotTaken(held, asked[0] ?? "");
      // Another text may be the same in the page's own form.
      return (now) => !isHeld(now) && isPutBack(now);
    },
    unread,
  );
}

const isPutBack = ({ now, before }: HeldField): boolean => now.value === "" || now.value === before.value;

const unread = "not read back, since the page that held it is gone";

/** For typed lines, since a page may handle Enter in its own way. Throws INPUT_NOT_TAKEN if a one-line field joined the lines. */
export function expectLines(action: Action, text: string, joined: readonly string[]): void {
  expectHeld(action, (held) => {
    if (isOneLine(held.now) && hasLines(text) && joined.includes(held.now.value))
      throw textNotTaken(held, text);
    return undefined;
  });
}

const hasLines = (text: string): boolean => /\S[^\S\n\r]*[\n\r]+\s*\S/.test(text);
const isOneLine = ({ type }: FieldFacts): boolean => /^(text|email|password|search|tel|url)$/.test(type);

function holds({ now, before }: HeldField, asked: string): boolean {
  if (now.value !== "" && isOneLine(now) && hasLines(asked)) return false;
  // Fields of these types hold values in one form only.
  if (isDateType(now.type)) return now.value === asked;
  const typed = now.value.slice(0, now.value.length - now.completed);
  if (isTaken(asked, now.value) || (now.completed > 0 && isTaken(asked, typed))) return true;
  return now.value === "" && isItemNearby(asked, before.around, now.around);
}

/** The field turned the text into an item next to it, as fields for tags do, and is empty again. */
function isItemNearby(asked: string, before: string, now: string): boolean {
  const words = asked.replace(/[,;\s]+$/, "").toLowerCase();
  return words !== "" && now.toLowerCase().includes(words) && !before.toLowerCase().includes(words);
}

export function cannotTake(facts: FieldFacts, asked: string): DeviceError {
  return unsent(notTaken("a field of this kind cannot hold it", facts, asked));
}

function textNotTaken({ now, before }: HeldField, asked: string): DeviceError {
  const states = [
    isOneLine(now) && hasLines(asked) && "the text has several lines, and the field takes one",
    now.readOnly && "the field is read-only",
    now.disabled && "the field is disabled",
    now.value === "" && "the field is empty now",
    now.value === before.value && "the field holds what it held before",
  ];
  return notTaken(states.find(Boolean) || "the field holds something else now", now, asked);
}

/** Values are only in the details, since they may be secrets: the server shows them if they are not. */
function notTaken(state: string, facts: FieldFacts, asked: string): DeviceError {
  const form = formOf(facts);
  return new DeviceError(
    "INPUT_NOT_TAKEN",
    `The field did not take the text: ${state}.${form === "" ? "" : ` It takes ${form}.`} Give what it takes, or look at the screen for what the page says.`,
    facts.secret ? {} : { held: quoted(facts.value), asked: quoted(asked) },
  );
}

/** What the field accepts, with an example; empty if nothing is known. */
function formOf({ type, limits, locale }: FieldFacts): string {
  if (isDateType(type)) return dateForm(type, locale);
  if (type === "color") return "a colour as #ff8800";
  if (type === "number") return numberForm(limits);
  // HTML's defaults of a range.
  if (type === "range") return numberForm({ ...limits, min: limits.min || "0", max: limits.max || "100" });
  const { maxLength, pattern, placeholder } = limits;
  const most = maxLength >= 0 ? `at most ${maxLength} character${maxLength === 1 ? "" : "s"}` : "";
  const hint = pattern || placeholder;
  return [most, hint && `what its hint says: ${quoted(hint)}`].filter(Boolean).join(", ");
}

function numberForm({ min, max, step }: FieldFacts["limits"]): string {
  const steps = step !== "" && step !== "any" && `in steps of ${step}`;
  return ["a number", min && `from ${min}`, max && `to ${max}`, steps].filter(Boolean).join(" ");
}

/** Throws INPUT_NOT_TAKEN unless the options are chosen after the page has reacted. */
export function expectOptions(action: Action, wanted: readonly string[]): void {
  expectHeld(
    action,
    (held) => {
      if (held.now.type !== "select") return undefined;
      if (hasOptions(held, wanted)) return (now) => !hasOptions(now, wanted);
      const labels = held.now.chosen.map(({ label }) => quoted(label)).join(", ");
      throw new DeviceError(
        "INPUT_NOT_TAKEN",
        `The list did not keep ${wanted.map((option) => quoted(option)).join(", ")}: it holds ${labels || "nothing"} now. Look at the screen for what the page says.`,
      );
    },
    unread,
  );
}

const hasOptions = ({ now }: HeldField, wanted: readonly string[]): boolean =>
  wanted.every((option) => now.chosen.some(({ label, value }) => label === option || value === option));

/** Throws INPUT_NOT_TAKEN unless the box has this state after the page has reacted. */
export function expectChecked(action: Action, checked: boolean): void {
  expectHeld(
    action,
    (held) => {
      if (held.now.checked === checked) return ({ now }) => now.checked !== checked;
      throw new DeviceError(
        "INPUT_NOT_TAKEN",
        `The box is ${checked ? "not ticked" : "still ticked"}: a click did not change it, or the page changed it back. Look at the screen for what the page says, or try click_element on what shows the box.`,
      );
    },
    unread,
  );
}

/** For a field that the command has read itself, or that the page may rightly empty at once: only a later loss counts. */
export function expectKept(action: Action): void {
  expectHeld(action, (held) => (isPutBack(held) ? undefined : isPutBack));
}
