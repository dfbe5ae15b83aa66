import { access } from "node:fs/promises";
import { z } from "zod";
import { type Command, defineCommand } from "../../contract.ts";
import { DeviceError } from "../../errors.ts";
import { type Acting, act } from "../act.ts";
import { askAgent } from "../askAgent.ts";
import { keyOf } from "../keys.ts";
import { inOneFrame, locate, type Target, targetShape } from "../locate.ts";
import { playwright } from "../playwright.ts";
import type { DrivenSession } from "../session.ts";
import { poll, untilAborted } from "../waiting.ts";
import { actionOptions, elementCommand, hasTarget, pageOptions, timeoutShape } from "./elementCommand.ts";

const LONGEST_TEXT = 100_000;

/** Typing, keys and the values of form fields. What is typed never appears in a message: it may be a secret. */
export function textCommands(session: DrivenSession): Command[] {
  return [
    inputText(session),
    typeText(session),
    pressKey(session),
    selectOption(session),
    setChecked(session),
    uploadFile(session),
  ];
}

function inputText(session: DrivenSession): Command {
  return elementCommand(session, {
    name: "input_text",
    description: "Replaces the value of a field by a text.",
    input: z.strictObject({ ...targetShape, text: z.string().max(LONGEST_TEXT), ...timeoutShape }),
    done: "filled",
    runIfReady: (input, acting) => fillReadyField(session, input, acting),
    run: (locator, input, acting) => locator.fill(input.text, actionOptions(acting)),
  });
}

/**
 * What Playwright does to a plain field that is ready, in one or two round trips instead of eight. Waits for one that a dialog
 * makes inert, which Playwright does not notice.
 */
async function fillReadyField(
  session: DrivenSession,
  input: Target & { text: string },
  { page, signal, left }: Acting,
): Promise<boolean> {
  const place = inOneFrame(session, input);
  if (place === undefined) return false;
  // A document that is being replaced gives no answer; Playwright waits for the next one.
  const fill = () => askAgent(page, place.frame, "fill", [place.query, input.text]).catch(() => undefined);
  let field = await untilAborted(fill(), signal);
  if (field === "inert") {
    const isFree = async () => {
      field = await fill();
      return field !== "inert";
    };
    if (!(await poll(isFree, { everyMs: 100, ms: left(), signal }))) throw inert();
  }
  if (field === "selected") await untilAborted(page.keyboard.insertText(input.text), signal);
  return field === "filled" || field === "selected";
}

const inert = () =>
  new DeviceError(
    "ELEMENT_NOT_ACTIONABLE",
    "The field cannot take the focus: an open dialog makes it inert. Act on the dialog first.",
  );

function typeText(session: DrivenSession): Command {
  const input = z.strictObject({
    ...targetShape,
    text: z.string().min(1).max(LONGEST_TEXT),
    ...timeoutShape,
  });
  return defineCommand<typeof input>({
    name: "type_text",
    description:
      "Types a text key by key behind what is there: in an element, or without one where the focus is.",
    effect: "write",
    input,
    run: (given, signal) =>
      act(
        session,
        {
          command: "type_text",
          timeoutMs: given.timeout_ms,
          signal,
          done: `typed ${given.text.length} characters`,
          awaitsPage: true,
        },
        async (acting) => {
          if (!hasTarget(given)) return acting.page.keyboard.type(given.text);
          const locator = await locate(session, given, signal, acting.left());
          const moved = await locator.evaluate(moveCaretToEnd, undefined, actionOptions(acting));
          if (!moved) await locator.press("End", actionOptions(acting));
          // The time a long text takes is not the element's.
          return locator.pressSequentially(given.text, { ...actionOptions(acting), timeout: 0 });
        },
      ),
  });
}

function pressKey(session: DrivenSession): Command {
  const input = z.strictObject({
    key: z
      .string()
      .min(1)
      .max(60)
      .describe(
        "UP, DOWN, LEFT, RIGHT, OK, BACK (previous page), HOME, TAB, a letter, Enter, F5, or a chord: Control+a",
      ),
    ...targetShape,
    ...timeoutShape,
  });
  return defineCommand<typeof input>({
    name: "press_key",
    description: "Presses a key or chord, in an element or where the focus is.",
    effect: "write",
    input,
    run: (given, signal) =>
      act(
        session,
        {
          command: "press_key",
          timeoutMs: given.timeout_ms,
          signal,
          done: `pressed ${given.key}`,
          awaitsPage: true,
        },
        async (acting) => {
          const key = keyOf(given.key);
          if (key === "BACK") return acting.page.goBack(pageOptions(acting));
          if (!hasTarget(given)) return acting.page.keyboard.press(key);
          const locator = await locate(session, given, signal, acting.left());
          return locator.press(key, actionOptions(acting));
        },
      ),
  });
}

function selectOption(session: DrivenSession): Command {
  return elementCommand(session, {
    name: "select_option",
    description:
      "Chooses options of a <select> by their label or value; several only where it allows several.",
    input: z.strictObject({
      ...targetShape,
      option: z.union([z.string().max(1000), z.array(z.string().max(1000)).min(1).max(100)]),
      ...timeoutShape,
    }),
    done: "selected in",
    async run(locator, input, acting) {
      const wanted = typeof input.option === "string" ? [input.option] : input.option;
      const offered = await locator.evaluate(optionsOf, undefined, actionOptions(acting));
      if (offered !== undefined && wanted.length > 1 && !offered.multiple) {
        throw new DeviceError("ACTION_REJECTED", "This <select> takes one option only. Give one.");
      }
      try {
        await locator.selectOption(wanted, actionOptions(acting));
      } catch (error) {
        if (offered === undefined || !(error instanceof playwright().errors.TimeoutError)) throw error;
        const now = await locator.evaluate(optionsOf, undefined, { timeout: 1_000, signal: acting.signal });
        refuseMissing(wanted, now ?? offered);
        throw error;
      }
    },
  });
}

type Options = { labels: string[]; values: string[]; multiple: boolean };

function refuseMissing(wanted: readonly string[], { labels, values }: Options): void {
  const missing = wanted.filter((option) => !labels.includes(option) && !values.includes(option));
  if (missing.length === 0) return;
  const shown = labels.slice(0, 20).join(", ");
  const more = labels.length > 20 ? ` and ${labels.length - 20} more` : "";
  throw new DeviceError(
    "ELEMENT_NOT_FOUND",
    `There is no option "${missing.join('", "').slice(0, 200)}". The options are: ${shown}${more}. Use one of them.`,
    { options: labels.slice(0, 20) },
  );
}

function setChecked(session: DrivenSession): Command {
  return elementCommand(session, {
    name: "set_checked",
    description:
      "Ticks or unticks a checkbox or switch, or chooses a radio button; does nothing if it is so already.",
    input: z.strictObject({ ...targetShape, checked: z.boolean().default(true), ...timeoutShape }),
    done: "set",
    async run(locator, input, acting) {
      const throughLabel = await locator.evaluate(needsLabel, undefined, actionOptions(acting));
      if (!throughLabel) return locator.setChecked(input.checked, actionOptions(acting));
      if ((await locator.isChecked(actionOptions(acting))) === input.checked) return;
      const label = await locator.evaluateHandle(labelOf, undefined, actionOptions(acting));
      await label.asElement()?.click(actionOptions(acting));
      if ((await locator.isChecked(actionOptions(acting))) !== input.checked) {
        throw new DeviceError(
          "ACTION_REJECTED",
          "A click on its label did not change it. Try click_element on what shows it.",
        );
      }
    },
  });
}

function uploadFile(session: DrivenSession): Command {
  return elementCommand(session, {
    name: "upload_file",
    description: "Gives files to a file field, or to the file dialog that the element opens.",
    input: z.strictObject({
      ...targetShape,
      files: z.array(z.string().min(1).max(500)).min(1).max(20).describe("Names inside the uploads folder."),
      ...timeoutShape,
    }),
    done: "gave files to",
    async run(locator, input, acting) {
      const paths = input.files.map((name) => session.context.uploadPath(name));
      await Promise.all(paths.map((path, index) => mustExist(path, input.files[index] ?? "")));
      if (await locator.evaluate(takesFiles, undefined, actionOptions(acting))) {
        return locator.setInputFiles(paths, actionOptions(acting));
      }
      const choosing = acting.page.waitForEvent("filechooser", {
        timeout: acting.left(),
        signal: acting.signal,
      });
      const [chooser] = await Promise.all([choosing, locator.click(actionOptions(acting))]);
      await chooser.setFiles(paths, actionOptions(acting));
    },
  });
}

async function mustExist(path: string, name: string): Promise<void> {
  try {
    await access(path);
  } catch {
    throw new DeviceError(
      "INVALID_PARAMS",
      `There is no file "${name}" in the uploads folder. Put it there first.`,
      { name },
    );
  }
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

function optionsOf(element: Element): Options | undefined {
  if (!(element instanceof HTMLSelectElement)) return undefined;
  const options = [...element.options];
  return {
    labels: options.map((option) => option.label),
    values: options.map((option) => option.value),
    multiple: element.multiple,
  };
}

/** A styled checkbox hides the real one; its label is what a user sees and clicks. */
function needsLabel(element: Element): boolean {
  if (!(element instanceof HTMLInputElement)) return false;
  const { width, height } = element.getBoundingClientRect();
  const style = getComputedStyle(element);
  const hidden = width === 0 || height === 0 || style.visibility !== "visible" || style.display === "none";
  const label = element.labels?.[0];
  return hidden && label !== undefined && label.getClientRects().length > 0;
}

function labelOf(element: Element): Element | null {
  return element instanceof HTMLInputElement ? (element.labels?.[0] ?? null) : null;
}

function takesFiles(element: Element): boolean {
  const field = element instanceof HTMLLabelElement ? element.control : element;
  return field instanceof HTMLInputElement && field.type === "file";
}
