import type { Locator } from "playwright-core";
import { z } from "zod";
import { DeviceError } from "../../errors.ts";
import type { Action } from "../acting/action.ts";
import { runApart } from "../page/askAgent.ts";

/**
 * Gives an element the focus, so that keys reach it and nothing else. Throws COMMAND_UNSUITABLE where it cannot take the focus,
 * with what can inside of it, and where a text is typed into what is only pressed; ELEMENT_NOT_ACTIONABLE for what could take the
 * focus and does not now.
 */
export async function takeFocus(
  locator: Locator,
  command: "press_key" | "type_text",
  action: Action,
): Promise<void> {
  const { isFocused, isAble, isPressed, tag, able } = await runApart(
    locator,
    focusSchema,
    focus,
    undefined,
    action.limits,
  );
  if (!isFocused && isAble)
    throw new DeviceError(
      "ELEMENT_NOT_ACTIONABLE",
      `The element is there, but ${tag} does not take the focus: it is disabled, hidden or behind a dialog. Do first what enables it.`,
    );
  if (!isFocused) {
    const instead =
      able.length > 0
        ? `Inside of it, this can: ${able.join(" · ")}.`
        : "Name a field, link or button, or click what takes the keys and leave the element out.";
    throw new DeviceError("COMMAND_UNSUITABLE", `${command}: ${tag} cannot take the focus. ${instead}`, {
      able,
    });
  }
  if (command === "type_text" && isPressed)
    throw new DeviceError(
      "COMMAND_UNSUITABLE",
      `type_text: ${tag} takes no text. Use click_element, or name the field itself.`,
    );
}

// What follows runs in the page.

/** `able`: selectors of what is inside and can take the focus, at most five. */
const focusSchema = z.object({
  isFocused: z.boolean(),
  isAble: z.boolean(),
  isPressed: z.boolean(),
  tag: z.string(),
  able: z.array(z.string()),
});
function focus(element: Element): z.input<typeof focusSchema> {
  const tagOf = (one: Element) => {
    const said = ["id", "class"].flatMap((name) => {
      const value = one.getAttribute(name);
      return value ? [` ${name}="${value.slice(0, 60)}"`] : [];
    });
    return `<${one.localName}${said.join("")}>`;
  };
  const wayTo = (one: Element): string => {
    if (one.id !== "") return `#${CSS.escape(one.id)}`;
    const within = one.parentElement?.closest("[id]");
    const name =
      one.classList[0] === undefined ? one.localName : `${one.localName}.${CSS.escape(one.classList[0])}`;
    const css = `${within ? `#${CSS.escape(within.id)} ` : ""}${name}`;
    return one.ownerDocument.querySelectorAll(css).length === 1 ? `css=${css}` : tagOf(one);
  };
  const label = element instanceof HTMLLabelElement ? element.control : null;
  const editor = element.closest("[contenteditable]:not([contenteditable=false])");
  const target = label ?? editor ?? element;
  if (target instanceof HTMLElement || target instanceof SVGElement) target.focus();
  const root = target.getRootNode();
  const active = root instanceof Document || root instanceof ShadowRoot ? root.activeElement : null;
  const focusable =
    "[tabindex],a[href],button,input,select,textarea,iframe,[contenteditable]:not([contenteditable=false])";
  const isFocused = active !== null && target.contains(active);
  const pressed =
    "button,a[href],[role=button],[role=link],[role=checkbox],[role=radio],[role=switch],input:is([type=button],[type=submit],[type=reset],[type=image],[type=checkbox],[type=radio],[type=file])";
  return {
    isFocused,
    isAble: target.matches(focusable),
    isPressed: target.matches(pressed),
    tag: tagOf(element),
    able: isFocused ? [] : [...target.querySelectorAll(focusable)].slice(0, 5).map(wayTo),
  };
}
