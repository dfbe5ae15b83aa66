import type { LabUi, UiEvent, UiNode } from "../../../lab/android/labUi.ts";
import { createLabUi } from "../../../lab/android/ui/labScreen.ts";
import { ManualClock } from "../../../lab/android/ui/manualClock.ts";

export const phoneScreen = { screen: { width: 1080, height: 2400, density: 420 }, isTv: false };
export const smallPhoneScreen = { screen: { width: 720, height: 1280, density: 320 }, isTv: false };
export const tvScreen = { screen: { width: 1920, height: 1080, density: 320 }, isTv: true };

export const center = ({ bounds: { x, y, width, height } }: UiNode) => ({
  x: x + width / 2,
  y: y + height / 2,
});

export const nodesBelow = (node: UiNode): UiNode[] => [node, ...node.children.flatMap(nodesBelow)];

/** A screen with short words for what tests do on it: a name is a text, a description, or the end of a resource id. */
export function device(options: Parameters<typeof createLabUi>[0]) {
  const clock = new ManualClock();
  const ui: LabUi = createLabUi({ ...options, clock });
  const events: UiEvent[] = [];
  ui.onEvent((event) => events.push(event));
  const nodes = () => nodesBelow(ui.active().root);
  const findNode = (name: string) => nodes().find((one) => isNamed(one, name));
  const node = (name: string): UiNode => {
    const found = findNode(name);
    if (found) return found;
    throw new Error(`Nothing is named ${name}; there is: ${texts().join(", ")}`);
  };
  const texts = () => nodes().flatMap(({ text }) => (text ? [text] : []));
  const tap = (name: string) => ui.tap(center(node(name)));
  const fill = (name: string, text: string) => {
    tap(name);
    ui.type(text);
    ui.key(4);
  };
  const keys = (...codes: number[]) => {
    for (const code of codes) ui.key(code);
  };
  const focused = () => {
    const has = nodes().find((one) => one.focused);
    return has && (has.text ?? nodesBelow(has).find(({ text }) => text)?.text);
  };
  return { clock, ui, events, nodes, findNode, node, texts, tap, fill, keys, focused };
}

const isNamed = ({ text, contentDescription, resourceId }: UiNode, name: string) =>
  text === name || contentDescription === name || resourceId?.endsWith(`/${name}`) === true;
