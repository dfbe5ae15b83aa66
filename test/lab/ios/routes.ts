import { z } from "zod";
import { actionsBody, performActions } from "../android/uia2/actions.ts";
import { sourceOf } from "../android/uia2/tree.ts";
import { alertText, answerAlert } from "./alerts.ts";
import { elementRoutes } from "./elementRoutes.ts";
import { mobile } from "./mobile.ts";
import { screenshot } from "./pictures.ts";
import type { Handle, IosSession } from "./session.ts";
import { parsed, WireFailure } from "./wire.ts";

const native = "NATIVE_APP";
const script = z.object({ script: z.string(), args: z.array(z.unknown()) });
const orientation = z.object({ orientation: z.enum(["LANDSCAPE", "PORTRAIT"]) });
const clipboard = z.object({ content: z.string() });
const settings = z.object({ settings: z.record(z.string(), z.unknown()) });
const backKey = 4;
const filePath = z.string().regex(/^@[\w.-]+(?::\w+)?\/./, "Only files of apps can be reached");

const isWide = ({ ui }: IosSession): boolean => ui.space().width > ui.space().height;

/** Commands of a session, by method and path below it; `:` is an id. */
export const routes: Readonly<Record<string, Handle>> = {
  ...elementRoutes,
  "GET /": ({ session }) => session.capabilities,
  "GET /source": ({ session }) => sourceOf(session.tree()),
  "GET /screenshot": ({ session }) => screenshot(session.ui),
  "POST /actions": ({ session, body }) => {
    performActions(session, parsed(actionsBody, body));
    return null;
  },
  "DELETE /actions": () => null,
  "POST /back": ({ session }) => session.ui.key(backKey),
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
  "GET /alert/text": ({ session }) => alertText(session.ui),
  "POST /alert/accept": ({ session }) => answerAlert(session.ui, true),
  "POST /alert/dismiss": ({ session }) => answerAlert(session.ui, false),
  "GET /contexts": () => [native],
  "GET /context": () => native,
  "POST /context": ({ body }) => {
    const { name } = parsed(z.object({ name: z.string() }), body);
    if (name !== native) throw new WireFailure("no such context", "No such context found");
    return null;
  },
  "GET /appium/settings": ({ session }) => session.settings,
  "POST /appium/settings": ({ session, body }) => {
    session.settings = { ...session.settings, ...parsed(settings, body).settings };
    return null;
  },
  "GET /appium/device/is_keyboard_shown": ({ session }) => session.ui.keyboardShown(),
  "POST /appium/device/get_clipboard": ({ session }) => Buffer.from(session.ui.clipboard).toString("base64"),
  "POST /appium/device/set_clipboard": ({ session, body }) => {
    session.ui.clipboard = Buffer.from(parsed(clipboard, body).content, "base64").toString();
    return null;
  },
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
  "POST /timeouts": () => null,
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
