import { access } from "node:fs/promises";
import type { Locator } from "playwright-core";
import { z } from "zod";
import type { Command } from "../../contract.ts";
import { shortened } from "../../elements/quoted.ts";
import { targetShape, timeoutShape } from "../../elements/target.ts";
import { DeviceError } from "../../errors.ts";
import type { Action, Actions } from "../acting/action.ts";
import { clickFacts, clickPlace, noPlace } from "../acting/clickPlace.ts";
import { expectChecked, expectKept, expectOptions, noteField } from "../acting/readBack.ts";
import { askHandle, runApart } from "../page/askAgent.ts";
import { playwright } from "../page/playwright.ts";
import { documentShape, elementCommand } from "./elementCommand.ts";
import { setSlider } from "./slider.ts";

/** Lists, boxes and files: fields in which a user chooses and does not type. */
export function choiceCommands(actions: Actions): Command[] {
  return [selectOption(actions), setChecked(actions), setSlider(actions), uploadFile(actions)];
}

function selectOption(actions: Actions): Command {
  return elementCommand(actions, {
    name: "select_option",
    description:
      "Chooses options of a <select> by their label or value; several only where it allows several.",
    input: z.strictObject({
      ...targetShape,
      option: z.union([z.string().max(1000), z.array(z.string().max(1000)).min(1).max(100)]),
      ...documentShape,
      ...timeoutShape,
    }),
    done: "selected in",
    async run(locator, input, action) {
      const wanted = typeof input.option === "string" ? [input.option] : input.option;
      const offered = await runApart(locator, optionsSchema, optionsOf, null, action.limits);
      if (offered !== null && wanted.length > 1 && !offered.multiple) {
        throw new DeviceError("ACTION_REJECTED", "This <select> takes one option only. Give one.");
      }
      await noteField(action, locator, input);
      try {
        await locator.selectOption(wanted, action.limits);
        expectOptions(action, wanted);
      } catch (error) {
        if (offered === null || !(error instanceof playwright().errors.TimeoutError)) throw error;
        const now = await runApart(locator, optionsSchema, optionsOf, null, {
          timeout: 1_000,
          signal: action.signal,
        });
        refuseMissing(wanted, now ?? offered);
        throw error;
      }
    },
  });
}

const optionsSchema = z
  .object({ labels: z.array(z.string()), values: z.array(z.string()), multiple: z.boolean() })
  .nullable();
type Options = NonNullable<z.output<typeof optionsSchema>>;

function refuseMissing(wanted: readonly string[], { labels, values }: Options): void {
  const missing = wanted.filter((option) => !labels.includes(option) && !values.includes(option));
  if (missing.length === 0) return;
  const shown = labels.slice(0, 20).join(", ");
  const more = labels.length > 20 ? ` and ${labels.length - 20} more` : "";
  throw new DeviceError(
    "ELEMENT_NOT_FOUND",
    `There is no option "${shortened(missing.join('", "'), 200)}". The options are: ${shown}${more}. Use one of them.`,
    { options: labels.slice(0, 20) },
  );
}

function setChecked(actions: Actions): Command {
  return elementCommand(actions, {
    name: "set_checked",
    description:
      "Ticks or unticks a checkbox or switch, or chooses a radio button; does nothing if it is so already.",
    input: z.strictObject({ ...targetShape, checked: z.boolean().default(true), ...timeoutShape }),
    done: "set",
    async run(locator, input, action) {
      await noteField(action, locator, input);
      expectChecked(action, input.checked);
      const throughLabel = await runApart(locator, z.boolean(), needsLabel, null, action.limits);
      if (!throughLabel) {
        const position = await clickPlace(locator, action.limits);
        return locator.setChecked(input.checked, { ...action.limits, ...(position && { position }) });
      }
      if ((await locator.isChecked(action.limits)) === input.checked) return;
      await clickLabel(locator, action);
    },
  });
}

/** A label whose every place is a link's or button's leaves the keyboard, where the box can take the focus. */
async function clickLabel(locator: Locator, action: Action): Promise<void> {
  const label = (await locator.evaluateHandle(labelOf, undefined, action.limits)).asElement();
  const { place } = (await label?.evaluate(clickFacts)) ?? { place: "middle" as const };
  if (place !== "none")
    return label?.click({ ...action.limits, ...(place !== "middle" && { position: place }) });
  await locator.focus(action.limits);
  if (!(await runApart(locator, z.boolean(), hasFocus, null, action.limits))) throw noPlace();
  await locator.press("Space", action.limits);
}

function uploadFile(actions: Actions): Command {
  return elementCommand(actions, {
    name: "upload_file",
    description: "Gives files to a file field, or to the file dialog that the element opens.",
    input: z.strictObject({
      ...targetShape,
      files: z.array(z.string().min(1).max(500)).min(1).max(20).describe("Names inside the uploads folder."),
      ...timeoutShape,
    }),
    done: "gave files to",
    async run(locator, input, action) {
      const paths = input.files.map((name) => action.session.context.uploadPath(name));
      await Promise.all(paths.map((path, index) => mustExist(path, input.files[index] ?? "")));
      if (await runApart(locator, z.boolean(), takesFiles, null, action.limits)) {
        await noteField(action, locator, input);
        await locator.setInputFiles(paths, action.limits);
        return expectKept(action);
      }
      const choosing = action.page.waitForEvent("filechooser", {
        timeout: action.left(),
        signal: action.signal,
      });
      const [chooser] = await Promise.all([choosing, action.send(() => locator.click(action.limits))]);
      await askHandle(chooser.element(), "noteField", [action.token, null]);
      await chooser.setFiles(paths, action.limits);
      expectKept(action);
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

function optionsOf(element: Element): Options | null {
  if (!(element instanceof HTMLSelectElement)) return null;
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

function hasFocus(element: Element): boolean {
  const root = element.getRootNode();
  return (root instanceof Document || root instanceof ShadowRoot) && root.activeElement === element;
}

function labelOf(element: Element): Element | null {
  return element instanceof HTMLInputElement ? (element.labels?.[0] ?? null) : null;
}

function takesFiles(element: Element): boolean {
  const field = element instanceof HTMLLabelElement ? element.control : element;
  return field instanceof HTMLInputElement && field.type === "file";
}
