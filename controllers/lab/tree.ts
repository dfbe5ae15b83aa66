import type { UiNode, UiTree } from "../src/screens/tree.ts";
import type { Box } from "./box.ts";
import { boxSpace, rowRect } from "./picture.ts";
import type { Item } from "./screens.ts";

const nothing = { x: 0, y: 0, width: 0, height: 0 };

/** What the box shows now; a dark screen shows nothing. */
export function treeOf(box: Box): UiTree {
  const { title } = box.current();
  const location = box.screen;
  if (box.isDark()) return { roots: [], space: boxSpace, location, isDark: true };
  const items = box.shown().map((item, place) => nodeOf(box, item, place));
  const roots = box.dialog ? [dialogOf(box.dialog.text), ...items] : items;
  return { roots, space: boxSpace, title, location };
}

function nodeOf(box: Box, { id, role, name }: Item, place: number): UiNode {
  const isField = role === "textbox";
  const isUsable = role !== "heading";
  return {
    ...{ role, id, bounds: rowRect(place), children: [] },
    ...{ text: isField ? (box.values.get(id) ?? "") : name, description: isField ? name : "" },
    ...{ clickable: isUsable, focusable: isUsable, focused: box.focused()?.id === id },
    ...{ checkable: role === "checkbox", checked: box.checked.has(id) },
  };
}

/** It stands in no row: it is answered by handle_dialog, and read by its text. */
function dialogOf(question: string): UiNode {
  const text: UiNode = {
    role: "text",
    text: question,
    bounds: { x: 120, y: 20, width: 400, height: 50 },
    children: [],
  };
  return { role: "alertdialog", text: "", bounds: nothing, children: [text] };
}
