import { z } from "zod";
import type { Command } from "../../contract.ts";
import { quoted } from "../../elements/quoted.ts";
import { targetShape, timeoutShape } from "../../elements/target.ts";
import { DeviceError } from "../../errors.ts";
import type { Actions } from "../acting/action.ts";
import { runApart } from "../page/askAgent.ts";
import { elementCommand } from "./elementCommand.ts";

export function selectText(actions: Actions): Command {
  return elementCommand(actions, {
    name: "select_text",
    description: "Selects the text of an element or field; with text, that part of it.",
    input: z.strictObject({
      ...targetShape,
      text: z.string().min(1).max(100_000).optional().describe("In its own case."),
      ...timeoutShape,
    }),
    done: "selected the text of",
    async run(locator, { text }, action) {
      if (text === undefined) return locator.selectText(action.limits);
      await locator.scrollIntoViewIfNeeded(action.limits);
      if (await runApart(locator, z.boolean(), selectPart, text, action.limits)) return;
      throw new DeviceError(
        "ELEMENT_NOT_FOUND",
        `There is no ${quoted(text)} in the element's text. Read it with get_text, and give a part of it in its own case.`,
      );
    },
  });
}

// What follows runs in the page.

/** White space of the part stands for any white space of the page. False where the element does not hold the part. */
function selectPart(element: Element, part: string): boolean {
  const words = part.trim().split(/\s+/);
  const pattern = new RegExp(words.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("\\s+"));
  if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) {
    const found = pattern.exec(element.value);
    if (!found) return false;
    element.focus();
    element.setSelectionRange(found.index, found.index + found[0].length);
    return true;
  }
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const nodes: { node: Node; text: string; from: number }[] = [];
  let whole = "";
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    nodes.push({ node, text: node.nodeValue ?? "", from: whole.length });
    whole += node.nodeValue ?? "";
  }
  const found = pattern.exec(whole);
  if (!found) return false;
  const end = found.index + found[0].length;
  const first = nodes.findLast(({ from }) => from <= found.index);
  const last = nodes.find(({ text, from }) => from + text.length >= end);
  if (!first || !last) return false;
  if (element instanceof HTMLElement && element.isContentEditable) element.focus();
  document.getSelection()?.setBaseAndExtent(first.node, found.index - first.from, last.node, end - last.from);
  return true;
}
