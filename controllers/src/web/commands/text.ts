import type { Locator } from "playwright-core";
import { type Command, defineCommand } from "../../contract.ts";
import { hasTarget, type Target, targetShape, timeoutShape } from "../../elements/target.ts";
import { DeviceError } from "../../errors.ts";
import { portable } from "../../portable.ts";
import { poll, untilAborted } from "../../waiting/deadlines.ts";
import { type Acting, act, busyMsOf } from "../acting/act.ts";
import { isDateType, isoOf } from "../acting/fieldDates.ts";
import { keyOf } from "../acting/keys.ts";
import { inOneFrame, locate } from "../acting/locate.ts";
import { ask } from "../acting/question.ts";
import { cannotTake, expectLines, expectText, newToken, noteField, noteFocused } from "../acting/readBack.ts";
import type { DrivenSession } from "../browser/session.ts";
import type { FieldFacts } from "../page/agent/fields.ts";
import { askOverDevTools, runApart } from "../page/askAgent.ts";
import { actionOptions, documentShape, elementCommand, pageOptions } from "./elementCommand.ts";
import { selectText } from "./selecting.ts";
import { takeFocus } from "./takeFocus.ts";

/** Typing and keys. What is typed never appears in a message: it may be a secret. */
export function textCommands(session: DrivenSession): Command[] {
  return [inputText(session), typeText(session), selectText(session), pressKey(session)];
}

function inputText(session: DrivenSession): Command {
  return elementCommand(session, {
    ...portable.input_text,
    description: `${portable.input_text.description} Dates and times in ISO form or as the page's locale shows them.`,
    done: "filled",
    runIfReady: (input, acting) => fillReadyField(session, input, acting),
    async run(locator, input, acting) {
      const token = newToken();
      const facts = await noteField(session, locator, input, { token, acting });
      const asked = facts ? valueFor(facts, input.text) : input.text;
      await locator.fill(asked, actionOptions(acting));
      expectText(session, acting, { token, asked: [asked] });
    },
  });
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
async function fillReadyField(
  session: DrivenSession,
  input: Target & { text: string },
  acting: Acting,
): Promise<boolean> {
  const { page, signal, left } = acting;
  const place = inOneFrame(session, input);
  if (place === undefined) return false;
  const token = newToken();
  const { frame, query } = place;
  // A document that is being replaced gives no answer; Playwright waits for the next one.
  const fill = () => askOverDevTools(frame, "fill", [query, input.text, token]).catch(() => undefined);
  let field = await untilAborted(fill(), signal);
  if (field === "inert") {
    const isFree = async () => {
      field = await fill();
      return field !== "inert";
    };
    if (!(await poll(isFree, { everyMs: 100, ms: left(), signal }))) throw inert();
  }
  if (field === "selected") await untilAborted(page.keyboard.insertText(input.text), signal);
  const isDone = field === "filled" || field === "selected";
  if (isDone) expectText(session, acting, { token, asked: [input.text] });
  return isDone;
}

const inert = () =>
  new DeviceError(
    "ELEMENT_NOT_ACTIONABLE",
    "The field cannot take the focus: an open dialog makes it inert. Act on the dialog first.",
  );

function typeText(session: DrivenSession): Command {
  return defineCommand({
    ...portable.type_text,
    run: (given, signal) =>
      act(
        session,
        {
          command: "type_text",
          timeoutMs: given.timeout_ms,
          signal,
          done: `typed ${given.text.length} characters`,
          isLong: true,
          awaitsPage: true,
        },
        (acting) => typeInto(session, given, acting),
      ),
  });
}

/** So many keys at a time: each piece has the deadline, since the time that a long text takes is not the element's. */
const PIECE = 100;

async function typeInto(
  session: DrivenSession,
  given: Target & { text: string; timeout_ms: number },
  acting: Acting,
): Promise<void> {
  const { text, timeout_ms: ms } = given;
  const question = { what: "type_text", ms, busyMs: busyMsOf(ms), signal: acting.signal };
  const token = newToken();
  const { locator, facts } = await ask(session, question, (signal) =>
    focusField(session, given, { acting: { ...acting, signal }, token }),
  );
  const iso = locator && facts && isDateType(facts.type) ? isoOf(facts.type, text, facts.locale) : undefined;
  if (locator && iso !== undefined) {
    await locator.fill(iso, actionOptions(acting));
    return expectText(session, acting, { token, asked: [iso] });
  }
  for (let at = 0; at < text.length; at += PIECE) {
    const piece = text.slice(at, at + PIECE);
    await ask(session, question, (signal) =>
      locator
        ? locator.pressSequentially(piece, { noWaitAfter: true, timeout: 0, signal })
        : acting.page.keyboard.type(piece),
    );
  }
  // Enter and Tab do what the page makes of them.
  if (!facts) return;
  if (!/[\n\r\t]/.test(text)) expectText(session, acting, { token, asked: typedBehind(facts, text) });
  else expectLines(session, acting, { token, text, joined: typedBehind(facts, text.replace(/[\n\r]/g, "")) });
}

/** Puts the caret behind what the field holds; without a target the focus stays where it is. */
async function focusField(
  session: DrivenSession,
  target: Target,
  { acting, token }: { acting: Acting; token: number },
): Promise<{ locator?: Locator; facts: FieldFacts | undefined }> {
  if (!hasTarget(target)) return { facts: await noteFocused(session, token, acting.signal) };
  const locator = await locate(session, target, acting.signal, acting.left());
  const facts = await noteField(session, locator, target, { token, acting });
  await takeFocus(locator, "type_text", acting);
  const moved = await runApart(locator, moveCaretToEnd, null, actionOptions(acting));
  if (!moved) await locator.press("End", actionOptions(acting));
  return { locator, facts };
}

/** What the field may hold then: the text behind what was there, or, where the caret was elsewhere, in its place. */
function typedBehind({ value, caret }: FieldFacts, text: string): string[] {
  const [from, to] = caret ?? [value.length, value.length];
  return [
    value + text,
    value.slice(0, from) + text + value.slice(to),
    ...(value === "" ? [] : [text + value]),
  ];
}

/** Writes a character or moves by one, and so begins nothing by itself. */
const isPlain = (key: string): boolean => /^(\S|Arrow\w+)$/.test(key);

function pressKey(session: DrivenSession): Command {
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
        isPlainKey: isPlain(key),
        isLong: count > 1,
      };
      if (/^(Control|Meta|ControlOrMeta)\+[cx]$/i.test(key)) session.clipboard.used();
      return act(session, options, async (acting) => {
        const locator = hasTarget(given) ? await locate(session, given, signal, acting.left()) : undefined;
        // Each key has the deadline, since the time that many keys take is not the element's.
        const each = count === 1 ? acting : { ...acting, left: () => given.timeout_ms };
        if (locator) await takeFocus(locator, "press_key", acting);
        const press = (isLast: boolean) =>
          pressOnce(session, { acting: each, key, locator, isQuick: isLast && options.isPlainKey });
        if (count === 1) return press(true);
        await pressEach(session, { count, ms: given.timeout_ms, signal }, press);
      });
    },
  });
}

/** Each with a deadline of its own. */
async function pressEach(
  session: DrivenSession,
  { count, ms, signal }: { count: number; ms: number; signal: AbortSignal },
  press: (isLast: boolean) => Promise<unknown>,
): Promise<void> {
  const question = { what: "press_key", ms, busyMs: busyMsOf(ms), signal };
  for (let left = count; left > 0; left--) await ask(session, question, () => press(left === 1));
}

type OneKey = { acting: Acting; key: string; locator: Locator | undefined; isQuick: boolean };

function pressOnce(session: DrivenSession, { acting, key, locator, isQuick }: OneKey): Promise<unknown> {
  if (key === "BACK") return acting.page.goBack(pageOptions(acting));
  if (locator) return locator.press(key, actionOptions(acting));
  return isQuick ? pressPlain(session, acting, key) : acting.page.keyboard.press(key);
}

/** Asks the page what it is about to do while the key goes up, of which few pages hear. */
async function pressPlain(session: DrivenSession, { page, signal, askedEarly }: Acting, key: string) {
  await page.keyboard.down(key);
  const willAct = session.signals(page).isAboutToAct(signal, { keyIsDown: true });
  askedEarly(willAct.catch(() => undefined));
  await page.keyboard.up(key);
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
