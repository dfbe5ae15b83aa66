import { z } from "zod";
import type { UiNode } from "../android/labUi.ts";
import { actionsBody, performActions } from "../webdriver/actions.ts";
import { parsed, WireFailure } from "../webdriver/wire.ts";
import { answerAlert } from "./alerts.ts";
import { mobile } from "./mobile.ts";
import { screenshot } from "./pictures.ts";
import type { Handle, IosSession } from "./session.ts";
import { sourceOf } from "./source.ts";

const script = z.object({ script: z.string(), args: z.array(z.unknown()) });
const orientation = z.object({ orientation: z.enum(["LANDSCAPE", "PORTRAIT"]) });
const typed = z.object({ text: z.string() });
const keys = { back: 4, delete: 67, enter: 66, tab: 61 };
const filePath = z.string().regex(/^@[\w.-]+(?::\w+)?\/./, "Only files of apps can be reached");

const isWide = ({ ui }: IosSession): boolean => ui.space().width > ui.space().height;

const ofElement =
  (work: (node: UiNode, session: IosSession, body: unknown) => unknown): Handle =>
  ({ session, ids, body }) =>
    work(session.elements.node(ids[0] ?? ""), session, body);

/** Commands of a session that the product uses, by method and path below it; `:` is an id. */
export const routes: Readonly<Record<string, Handle>> = {
  "GET /element/active": ({ session }) => session.elements.active(),
  "POST /element/:/clear": ofElement((node, session) => {
    if (!session.ui.setText(node, ""))
      throw new WireFailure("invalid element state", "The element cannot be cleared");
  }),
  "POST /element/:/value": ofElement((node, session, body) =>
    typeInto(session, node, parsed(typed, body).text),
  ),
  "GET /element/:/rect": ofElement(({ bounds }) => bounds),
  "GET /source": ({ session }) => sourceOf(session.ui),
  "GET /screenshot": ({ session }) => screenshot(session.ui),
  "POST /actions": ({ session, body }) => {
    performActions(session.ui, parsed(actionsBody, body));
    return null;
  },
  "DELETE /actions": () => null,
  "POST /back": ({ session }) => session.ui.key(keys.back),
  "GET /window/rect": ({ session }) => ({
    x: 0,
    y: 0,
    width: session.ui.space().width,
    height: session.ui.space().height,
  }),
  "GET /orientation": ({ session }) => (isWide(session) ? "LANDSCAPE" : "PORTRAIT"),
  "POST /orientation": ({ session, body }) => {
    const wanted = parsed(orientation, body).orientation;
    if (isWide(session) !== (wanted === "LANDSCAPE")) session.ui.rotate(wanted === "LANDSCAPE" ? 90 : 0);
    return wanted;
  },
  "POST /alert/accept": ({ session }) => answerAlert(session.ui, true),
  "POST /alert/dismiss": ({ session }) => answerAlert(session.ui, false),
  "GET /appium/device/is_keyboard_shown": ({ session }) => session.ui.keyboardShown(),
  "GET /location": ({ session }) => whereIs(session),
  "POST /se/log": ({ session, body }) => logOf(session, parsed(z.object({ type: z.string() }), body).type),
  /** `@com.example.shop:documents/a.txt` is a file of an app. */
  "POST /appium/device/push_file": ({ session, body }) => {
    const { path, data } = parsed(z.object({ path: filePath, data: z.string() }), body);
    session.files.set(path, data);
    return null;
  },
  "POST /appium/device/pull_file": ({ session, body }) => {
    const { path } = parsed(z.object({ path: filePath }), body);
    const data = session.files.get(path);
    if (data !== undefined) return data;
    throw new WireFailure("unknown error", `The remote file '${path}' does not exist`);
  },
  "POST /execute/sync": ({ session, body }) => {
    const { script: name, args } = parsed(script, body);
    return mobile(session, name, args[0] ?? {});
  },
};

/** WebDriverAgent may not ask where the device is, as it is after its installation. */
function whereIs({ location }: IosSession): object {
  if (location) return { ...location, altitude: 0 };
  throw new WireFailure(
    "unknown error",
    "Location service must be set to 'Always' in order to retrieve the current geolocation data. Please set it up manually via 'Settings > Privacy > Location Services -> WebDriverAgentRunner-Runner'.",
  );
}

function logOf({ logs }: IosSession, type: string): object {
  const found = logs.take(type);
  if (found) return found;
  throw new WireFailure(
    "unknown error",
    `No logs of type '${type}' found. Supported log types are: syslog,crashlog.`,
  );
}

/** Behind what the field holds; a line end is the key Return, and a backspace deletes. */
function typeInto({ ui }: IosSession, node: UiNode, text: string): void {
  if (!ui.focusOn(node)) throw new WireFailure("invalid element state", "The element has no keyboard focus");
  for (const part of text.split(/([\n\b\t])/)) {
    if (part === "\n") ui.key(keys.enter);
    else if (part === "\b") ui.key(keys.delete);
    else if (part === "\t") ui.key(keys.tab);
    else if (part !== "") ui.type(part);
  }
}
