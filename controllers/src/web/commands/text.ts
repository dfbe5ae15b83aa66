import type { Locator } from "playwright-core";
import { z } from "zod";
import { type Command, defineCommand } from "../../contract.ts";
import { secretInput } from "../../dispatch.ts";
import { hasTarget, type Target, targetShape, timeoutShape } from "../../elements/target.ts";
import { DeviceError } from "../../errors.ts";
import { portable } from "../../portable.ts";
import { poll, untilAborted } from "../../waiting/deadlines.ts";
import type { Action, Actions } from "../acting/action.ts";
import { isDateType, isoOf } from "../acting/fieldDates.ts";
import { keyOf } from "../acting/keys.ts";
import { inOneFrame } from "../acting/locate.ts";
import { cannotTake, expectLines, expectText, noteField, noteFocused } from "../acting/readBack.ts";
import { fillSecret, typeSecret } from "../acting/secretFields.ts";
import { isOverBidi } from "../browser/settings.ts";
import type { FieldFacts } from "../page/agent/answers.ts";
import { askOverDevTools, runApart } from "../page/askAgent.ts";
import { documentShape, elementCommand } from "./elementCommand.ts";
import { selectText } from "./selecting.ts";
import { takeFocus } from "./takeFocus.ts";

/** Typing and keys. What is typed never appears in a message: it may be a secret. */
export function textCommands(actions: Actions): Command[] {
  return [inputText(actions), typeText(actions), selectText(actions), pressKey(actions)];
}

function inputText(actions: Actions): Command {
  return elementCommand(actions, {
    ...portable.input_text,
    description: `${portable.input_text.description} Dates and times in ISO form or as the page's locale shows them.`,
    done: "filled",
    runIfReady: fillReadyField,
    async run(locator, input, action) {
      const secret = secretInput();
      if (secret) return fillSecret(action, { locator, target: input, text: input.text }, secret);
      const facts = await noteField(action, locator, input);
      const asked = facts ? valueFor(facts, input.text) : input.text;
      const isTyped = isOverBidi(action.session.settings) && typedKinds.has(facts?.type ?? "");
      await (isTyped ? typeOver(locator, asked, action) : locator.fill(asked, action.limits));
      expectText(action, asked);
    },
  });
}

const typedKinds = new Set(["text", "search", "email", "url", "tel", "password", "textarea", "rich"]);

/** By keys: over BiDi, Playwright's `fill` sets the value in the page's own world, where React takes it for its own doing. */
async function typeOver(locator: Locator, text: string, { limits }: Action): Promise<void> {
  await locator.selectText(limits);
  if (text === "") await locator.press("Delete", limits);
  else await locator.pressSequentially(text, limits);
}

/** What the browser's own field of a type is given for a text. Throws INPUT_NOT_TAKEN for one that it cannot take. */
function valueFor(facts: FieldFacts, text: string): string {
  const { type, locale } = facts;
  if (isDateType(type) && text !== "") {
    const iso = isoOf(type, text, locale);
    if (iso === undefined) throw cannotTake(facts, text);
    return iso;
  }
  const form = { number: /^$|^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i, range: /^\s*[-+]?\d*\.?\d+\s*$/ }[
    type
  ];
  if (form !== undefined && !form.test(text)) throw cannotTake(facts, text);
  if (type !== "color") return form === undefined ? text : text.trim().replace(/^\+/, "");
  const colour = text.trim().replace(/^#(.)(.)(.)$/, "#$1$1$2$2$3$3");
  if (!/^#[\da-f]{6}$/i.test(colour)) throw cannotTake(facts, text);
  return colour.toLowerCase();
}

/**
 * What Playwright does to a plain field that is ready, in one or two round trips instead of eight. Waits for one that a dialog
 * makes inert, which Playwright does not notice.
 */
async function fillReadyField(input: Target & { text: string }, action: Action): Promise<boolean> {
  const { session, page, signal, token } = action;
  if (secretInput()) return false;
  const place = await inOneFrame(session, input, signal);
  if (place === undefined) return false;
  const { frame, query } = place;
  // A document that is being replaced gives no answer; Playwright waits for the next one.
  const fill = () => askOverDevTools(frame, "fill", [query, input.text, token]).catch(() => undefined);
  let field = await untilAborted(fill(), signal);
  if (field === "inert") {
    const isFree = async () => {
      field = await fill();
      return field !== "inert";
    };
    if (!(await poll(isFree, { everyMs: 100, ms: action.left(), signal }))) throw inert();
  }
  if (field === "selected") await untilAborted(page.keyboard.insertText(input.text), signal);
  const isDone = field === "filled" || field === "selected";
  if (isDone) expectText(action, input.text);
  return isDone;
}

const inert = () =>
  new DeviceError(
    "ELEMENT_NOT_ACTIONABLE",
    "The field cannot take the focus: an open dialog makes it inert. Act on the dialog first.",
  );

function typeText(actions: Actions): Command {
  return defineCommand({
    ...portable.type_text,
    run: (given, signal) =>
      actions.run(
        {
          command: "type_text",
          timeoutMs: given.timeout_ms,
          signal,
          done: `typed ${given.text.length} characters`,
          isLong: true,
          awaitsPage: true,
        },
        (action) => typeInto(given, action),
      ),
  });
}

/** So many keys at a time: each piece has the deadline, since the time that a long text takes is not the element's. */
const PIECE = 100;
/** What a field that is not there may take longer, to be named. */
const FOUND_MS = 3_000;

async function typeInto(given: Target & { text: string }, action: Action): Promise<void> {
  const { text } = given;
  const { locator, facts } = await action.piece(() => focusField(given, action), FOUND_MS);
  const secret = secretInput();
  const iso =
    locator && !secret && facts && isDateType(facts.type) ? isoOf(facts.type, text, facts.locale) : undefined;
  if (locator && iso !== undefined) {
    await locator.fill(iso, action.limits);
    return expectText(action, iso);
  }
  const typePieces = async (by: Locator | undefined) => {
    for (let at = 0; at < text.length; at += PIECE) {
      const piece = text.slice(at, at + PIECE);
      const type = () =>
        by ? by.pressSequentially(piece, { ...action.limits, timeout: 0 }) : action.page.keyboard.type(piece);
      await action.piece(() => action.send(type));
    }
  };
  if (secret) await typeSecret(action, text, secret, () => typePieces(undefined));
  else await typePieces(locator);
  // Enter and Tab do what the page makes of them.
  if (!facts) return;
  if (!/[\n\r\t]/.test(text)) expectText(action, ...typedBehind(facts, text));
  else expectLines(action, text, typedBehind(facts, text.replace(/[\n\r]/g, "")));
}

/** Puts the caret after what the field holds; without a target the focus stays where it is. */
async function focusField(
  target: Target,
  action: Action,
): Promise<{ locator?: Locator; facts: FieldFacts | undefined }> {
  if (!hasTarget(target)) return { facts: await noteFocused(action) };
  const locator = await action.locate(target);
  const facts = await noteField(action, locator, target);
  await takeFocus(locator, "type_text", action);
  const moved = await runApart(locator, z.boolean(), moveCaretToEnd, null, action.limits);
  if (!moved) await locator.press("End", action.limits);
  return { locator, facts };
}

/** What the field may hold then: the text after what was there, or, where the caret was elsewhere, in its place. */
function typedBehind({ value, caret }: FieldFacts, text: string): string[] {
  const [from, to] = caret ?? [value.length, value.length];
  return [
    value + text,
    value.slice(0, from) + text + value.slice(to),
    ...(value === "" ? [] : [text + value]),
  ];
}

function pressKey(actions: Actions): Command {
  const { description, input } = portable.press_key;
  return defineCommand({
    ...portable.press_key,
    description: `${description} BACK is the previous page; also a letter, Enter, F5, or a chord: Control+a. With ref or selector, in that element.`,
    input: input.extend({ ...targetShape, ...documentShape, ...timeoutShape }),
    async run(given, signal) {
      const key = keyOf(given.key);
      const { count } = given;
      const options = {
        command: "press_key",
        timeoutMs: given.timeout_ms,
        signal,
        done: count === 1 ? `pressed ${given.key}` : `pressed ${given.key} ${count} times`,
        awaitsPage: true,
        isLong: count > 1,
      };
      if (/^(Control|Meta|ControlOrMeta)\+[cx]$/i.test(key)) actions.session.clipboard.used();
      return actions.run(options, async (action) => {
        const locator = hasTarget(given) ? await action.locate(given) : undefined;
        if (locator) await takeFocus(locator, "press_key", action);
        const press = (): Promise<unknown> => {
          if (key === "BACK") return action.page.goBack(action.pageLimits);
          return locator ? locator.press(key, action.limits) : action.page.keyboard.press(key);
        };
        if (count === 1) return press();
        // Each key has the deadline, since the time that many keys take is not the element's.
        for (let left = count; left > 0; left--) await action.piece(() => action.send(press));
      });
    },
  });
}

// What follows runs in the page.

/** False for number, date and e-mail fields, whose caret only a key can move. */
function moveCaretToEnd(element: Element): boolean {
  if (element instanceof HTMLElement) element.focus();
  if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) {
    if (element.selectionStart === null) return false;
    element.setSelectionRange(element.value.length, element.value.length);
    return true;
  }
  if (element instanceof HTMLElement && element.isContentEditable) {
    const selection = element.ownerDocument.getSelection();
    selection?.selectAllChildren(element);
    selection?.collapseToEnd();
  }
  return true;
}
