import { z } from "zod";
import { actionsBody, performActions } from "../../webdriver/actions.ts";
import { parsed, WireFailure } from "../../webdriver/wire.ts";
import type { UiNode } from "../labUi.ts";
import * as gestures from "./gestures.ts";
import { screenshot } from "./pictures.ts";
import type { Uia2Session } from "./session.ts";
import { attributesOf } from "./tree.ts";

export type Uia2Device = {
  manufacturer: string;
  model: string;
  brand: string;
  apiVersion: string;
  platformVersion: string;
};

type Call = { session: Uia2Session; device: Uia2Device; ids: readonly string[]; body: unknown };
type Handle = (call: Call) => unknown;

const typed = z.object({
  text: z.string(),
  replace: z.union([z.boolean(), z.string()]).optional(),
});
const key = z.object({ keycode: z.coerce.number() });

/** Reads the body before the work: what does not fit is an invalid argument. */
const given =
  <T>(
    schema: z.ZodType<T>,
    work: (session: Uia2Session, body: T, ids: readonly string[]) => unknown,
  ): Handle =>
  ({ session, body, ids }) =>
    work(session, parsed(schema, body), ids);

const ofElement =
  (work: (node: UiNode, session: Uia2Session, ids: readonly string[]) => unknown): Handle =>
  ({ session, ids }) =>
    work(session.elements.node(ids[0] ?? ""), session, ids);

/** What the driver 8.7.0 asks for where the product uses it, by method and path below the session; `:` is an id. */
export const routes: Readonly<Record<string, Handle>> = {
  "GET /source": async ({ session }) => {
    await session.untilIdle();
    return session.source();
  },
  "GET /screenshot": ({ session }) => screenshot(session.ui),
  "GET /element/active": ({ session }) => session.elements.active(),
  "POST /element/:/clear": ofElement((node, session) => write(session, node, "")),
  "POST /element/:/value": given(typed, (session, body, [id = ""]) =>
    type(session, session.elements.node(id), body),
  ),
  "GET /element/:/text": ofElement(({ text }) => text ?? ""),
  "GET /element/:/attribute/:": ofElement((node, _, [, name = ""]) => attribute(node, name)),
  "POST /actions": given(actionsBody, ({ ui }, body) => performActions(ui, body)),
  "POST /appium/gestures/click": given(gestures.pressBody, gestures.click),
  "POST /appium/gestures/double_click": given(gestures.pressBody, gestures.doubleClick),
  "POST /appium/gestures/pinch_open": given(gestures.pinchBody, (session, body) =>
    gestures.pinch(session, body, true),
  ),
  "POST /appium/gestures/pinch_close": given(gestures.pinchBody, (session, body) =>
    gestures.pinch(session, body, false),
  ),
  "POST /appium/device/press_keycode": given(key, ({ ui }, { keycode }) => ui.key(keycode)),
  "GET /orientation": ({ session }) => (isLandscape(session) ? "LANDSCAPE" : "PORTRAIT"),
  "POST /orientation": given(
    z.object({ orientation: z.enum(["LANDSCAPE", "PORTRAIT"]) }),
    (session, body) => {
      const { width, height, rotation } = session.ui.space();
      const isWide = width > height;
      if (isWide !== (body.orientation === "LANDSCAPE")) session.ui.rotate(rotation % 180 === 0 ? 90 : 0);
      return body.orientation;
    },
  ),
  "GET /window/:/size": ({ session }) => {
    const { width, height } = session.ui.space();
    return { width, height };
  },
  "GET /appium/device/info": ({ session, device }) => deviceInfo(session, device),
  "GET /appium/device/pixel_ratio": ({ session }) => session.ui.density / 160,
  "GET /appium/device/battery_info": () => ({ status: 3, level: 0.8 }),
  "GET /appium/device/system_bars": ({ session }) => ({ statusBar: statusBarHeight(session) }),
  "GET /appium/settings": ({ session }) => session.settings,
  "POST /appium/settings": given(z.object({ settings: z.record(z.string(), z.unknown()) }), (session, body) =>
    session.update(body.settings),
  ),
  "POST /appium/device/set_clipboard": given(z.object({ content: z.string() }), ({ ui }, { content }) => {
    ui.clipboard = Buffer.from(content, "base64").toString();
  }),
};

function write(session: Uia2Session, node: UiNode, text: string): void {
  if (session.ui.setText(node, text)) return;
  throw new WireFailure(
    "invalid element state",
    `Cannot set the element to '${text}'. Did you interact with the correct element?`,
  );
}

/** Behind what the field shows, as the server does it: of a password it sees dots. */
function type(session: Uia2Session, node: UiNode, { text, replace }: z.output<typeof typed>): void {
  const before = node.text === node.hint || String(replace) === "true" ? "" : (node.text ?? "");
  write(session, node, before + text);
}

function isLandscape({ ui }: Uia2Session): boolean {
  const { width, height } = ui.space();
  return width > height;
}

function attribute(node: UiNode, name: string): string | null {
  const attributes = attributesOf(node);
  if (!(name in attributes))
    throw new WireFailure("invalid argument", `'${name}' attribute is unknown for the element`);
  return attributes[name] === undefined ? null : String(attributes[name]);
}

function deviceInfo({ ui }: Uia2Session, device: Uia2Device): object {
  const { width, height } = ui.space();
  return {
    ...device,
    androidId: "5c0ffee5c0ffee00",
    carrierName: null,
    realDisplaySize: `${width}x${height}`,
    displayDensity: ui.density,
    networks: [{ typeName: "WIFI", type: 1, subtype: 0, subtypeName: "", connected: true, available: true }],
  };
}

const statusBarHeight = ({ ui }: Uia2Session): number =>
  ui.windows().find(({ title }) => title === "StatusBar")?.root.bounds.height ?? 0;
