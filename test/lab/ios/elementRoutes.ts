import { z } from "zod";
import { centerOf } from "../android/uia2/gestures.ts";
import type { Handle, IosSession } from "./session.ts";
import { parsed, WireFailure } from "./wire.ts";

const locator = z.object({ using: z.string(), value: z.string() });
const typed = z.object({ text: z.string() });
const key = { delete: 67, enter: 66, tab: 61 };

const ofElement =
  (work: (id: string, session: IosSession, ids: readonly string[]) => unknown): Handle =>
  ({ session, ids }) =>
    work(ids[0] ?? "", session, ids);

const attribute = (session: IosSession, id: string, name: string): string | null => {
  const { attributes } = session.element(id);
  const known = ["rect", "type", "value", "name", "label", "enabled", "visible", "accessible", "focused"];
  if (!attributes.has(name) && !known.includes(name) && name !== "placeholderValue")
    throw new WireFailure("invalid argument", `The attribute '${name}' is unknown`);
  return attributes.get(name) ?? null;
};

export const elementRoutes: Readonly<Record<string, Handle>> = {
  "POST /element": ({ session, body }) => session.find(parsed(locator, body)),
  "POST /elements": ({ session, body }) => session.findAll(parsed(locator, body)),
  "POST /element/:/element": ({ session, body, ids }) => session.find(parsed(locator, body), ids[0]),
  "POST /element/:/elements": ({ session, body, ids }) => session.findAll(parsed(locator, body), ids[0]),
  "GET /element/active": ({ session }) => session.active(),
  "POST /element/:/click": ofElement((id, session) => session.ui.tap(centerOf(session.node(id)))),
  "POST /element/:/clear": ofElement((id, session) => {
    if (!session.ui.setText(session.node(id), ""))
      throw new WireFailure("invalid element state", "The element cannot be cleared");
  }),
  "POST /element/:/value": ({ session, body, ids }) =>
    typeInto(session, ids[0] ?? "", parsed(typed, body).text),
  "GET /element/:/text": ofElement((id, session) => {
    const { attributes } = session.element(id);
    return attributes.get("value") ?? attributes.get("label") ?? "";
  }),
  "GET /element/:/name": ofElement((id, session) => session.element(id).tag),
  "GET /element/:/attribute/:": ofElement((id, session, [, name = ""]) => attribute(session, id, name)),
  "GET /element/:/rect": ofElement((id, session) => session.node(id).bounds),
  "GET /element/:/enabled": ofElement((id, session) => session.node(id).enabled),
  "GET /element/:/displayed": ofElement(
    (id, session) => session.element(id).attributes.get("visible") === "true",
  ),
  "GET /element/:/selected": ofElement((id, session) => session.element(id).attributes.get("value") === "1"),
};

/** Behind what the field holds; a line end is the key Return, and a backspace deletes. */
function typeInto(session: IosSession, id: string, text: string): void {
  const { ui } = session;
  if (!ui.focusOn(session.node(id)))
    throw new WireFailure("invalid element state", "The element has no keyboard focus");
  for (const part of text.split(/([\n\b\t])/)) {
    if (part === "\n") ui.key(key.enter);
    else if (part === "\b") ui.key(key.delete);
    else if (part === "\t") ui.key(key.tab);
    else if (part !== "") ui.type(part);
  }
}
