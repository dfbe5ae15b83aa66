import { z } from "zod";
import type { LabUi, UiNode } from "../labUi.ts";
import { actionsBody, performActions } from "./actions.ts";
import { alertText, answerAlert } from "./alerts.ts";
import { Uia2Failure } from "./failure.ts";
import * as gestures from "./gestures.ts";
import { screenshot } from "./pictures.ts";
import type { Uia2Session } from "./session.ts";
import { boundsOf } from "./tree.ts";

export type Uia2Device = {
  manufacturer: string;
  model: string;
  brand: string;
  apiVersion: string;
  platformVersion: string;
};

type Call = { session: Uia2Session; device: Uia2Device; ids: readonly string[]; body: unknown };
type Handle = (call: Call) => unknown;

const none = z.unknown();
const locator = z.object({ strategy: z.string(), selector: z.string(), context: z.string().nullish() });
const typed = z.object({
  text: z.string(),
  replace: z.union([z.boolean(), z.string()]).optional(),
  elementId: z.string().optional(),
});
const key = z.object({ keycode: z.coerce.number(), metastate: z.number().optional() });
const alertBody = z.object({ buttonLabel: z.string().optional() });

/** Reads the body before the work: what does not fit is an invalid argument. */
const given =
  <T>(
    schema: z.ZodType<T>,
    work: (session: Uia2Session, body: T, ids: readonly string[]) => unknown,
  ): Handle =>
  ({ session, body, ids }) => {
    const parsed = schema.safeParse(body);
    if (!parsed.success) throw new Uia2Failure("invalid argument", z.prettifyError(parsed.error));
    return work(session, parsed.data, ids);
  };

const ofElement =
  (work: (node: UiNode, session: Uia2Session, ids: readonly string[]) => unknown): Handle =>
  ({ session, ids }) =>
    work(session.node(ids[0] ?? ""), session, ids);

/** What the driver 8.7.0 asks for, by method and path below the session; `:` is an id. */
export const routes: Readonly<Record<string, Handle>> = {
  "GET /": ({ device }) => ({ deviceName: device.model, platformVersion: device.platformVersion }),
  "GET /source": async ({ session }) => {
    await session.untilIdle();
    return session.source();
  },
  "GET /screenshot": ({ session }) => screenshot(session.ui, session.numberSetting("currentDisplayId")),
  "POST /element": given(locator, (session, by) => session.find(withoutEmpty(by))),
  "POST /elements": given(locator, (session, by) => session.findAll(withoutEmpty(by))),
  "GET /element/active": ({ session }) => session.active(),
  "POST /element/:/click": async ({ session, ids }) => {
    await session.untilIdle();
    session.ui.tap(gestures.centerOf(session.node(ids[0] ?? "")));
  },
  "POST /element/:/clear": ofElement((node, session) => write(session, node, "")),
  "POST /element/:/value": given(typed, (session, body, [id = ""]) => type(session, session.node(id), body)),
  "POST /keys": given(typed, (session, body) => type(session, focused(session), body)),
  "GET /element/:/text": ({ session, ids }) => session.textOf(ids[0] ?? ""),
  "GET /element/:/name": ofElement(({ contentDescription }) => contentDescription ?? ""),
  "GET /element/:/attribute/:": ofElement((node, _, [, name = ""]) => attribute(node, name)),
  "GET /element/:/rect": ofElement(({ bounds }) => bounds),
  "GET /element/:/size": ofElement(({ bounds: { width, height } }) => ({ width, height })),
  "GET /element/:/location": ofElement(({ bounds: { x, y } }) => ({ x, y })),
  "GET /element/:/screenshot": ofElement((node, { ui }) => screenshot(ui, 0, node.bounds)),
  "GET /appium/element/:/first_visible": async ({ session, ids: [context = ""] }) =>
    session.find({ strategy: "xpath", selector: "./*[1]", context }),
  "POST /actions": given(actionsBody, performActions),
  "POST /appium/gestures/click": given(gestures.pressBody, gestures.click),
  "POST /appium/gestures/long_click": given(gestures.pressBody, gestures.longClick),
  "POST /appium/gestures/double_click": given(gestures.pressBody, gestures.doubleClick),
  "POST /appium/gestures/drag": given(gestures.dragBody, gestures.drag),
  "POST /appium/gestures/swipe": given(gestures.swipeBody, gestures.swipe),
  "POST /appium/gestures/scroll": given(gestures.scrollBody, gestures.scroll),
  "POST /appium/gestures/fling": given(gestures.flingBody, gestures.fling),
  "POST /appium/gestures/pinch_open": given(gestures.pinchBody, (session, body) =>
    gestures.pinch(session, body, true),
  ),
  "POST /appium/gestures/pinch_close": given(gestures.pinchBody, (session, body) =>
    gestures.pinch(session, body, false),
  ),
  "POST /gestures/scroll_to": given(gestures.scrollToBody, gestures.scrollTo),
  "POST /back": ({ session }) => session.ui.key(4),
  "POST /appium/device/press_keycode": given(key, (session, body) => press(session, body, false)),
  "POST /appium/device/long_press_keycode": given(key, (session, body) => press(session, body, true)),
  "POST /appium/device/open_notifications": ({ session }) => session.ui.notifications(true),
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
  "GET /rotation": ({ session }) => ({ x: 0, y: 0, z: session.ui.space().rotation }),
  "POST /rotation": given(
    z.object({ z: z.union([z.literal(0), z.literal(90), z.literal(180), z.literal(270)]) }),
    (session, body) => session.ui.rotate(body.z),
  ),
  "GET /window/:/size": ({ session }) => {
    const { width, height } = session.ui.space();
    return { width, height };
  },
  "GET /appium/device/info": ({ session, device }) => deviceInfo(session, device),
  "GET /appium/device/pixel_ratio": ({ session }) => session.ui.density / 160,
  "GET /appium/device/display_density": ({ session }) => session.ui.density,
  "GET /appium/device/battery_info": () => ({ status: 3, level: 0.8 }),
  "GET /appium/device/declared_orientation": () => null,
  "GET /appium/device/system_bars": ({ session }) => ({ statusBar: statusBarHeight(session) }),
  "GET /alert/text": ({ session }) => alertText(session.ui),
  "POST /alert/accept": given(alertBody, ({ ui }, { buttonLabel }) => answerAlert(ui, true, buttonLabel)),
  "POST /alert/dismiss": given(alertBody, ({ ui }, { buttonLabel }) => answerAlert(ui, false, buttonLabel)),
  "GET /appium/settings": ({ session }) => session.settings,
  "POST /appium/settings": given(z.object({ settings: z.record(z.string(), z.unknown()) }), (session, body) =>
    session.update(body.settings),
  ),
  "POST /appium/device/get_clipboard": ({ session }) => Buffer.from(session.ui.clipboard).toString("base64"),
  "POST /appium/device/set_clipboard": given(z.object({ content: z.string() }), ({ ui }, { content }) => {
    ui.clipboard = Buffer.from(content, "base64").toString();
  }),
  "POST /appium/list_windows": ({ session: { ui } }) =>
    displaysOf(ui).flatMap((displayId) =>
      ui.windows(displayId).map(({ packageName, root: { bounds } }, windowId) => {
        const { x: left, y: top, width, height } = bounds;
        const rect = { left, top, right: left + width, bottom: top + height };
        return { windowId, displayId, physicalDisplayId: null, rect, packageName, screenshot: null };
      }),
    ),
  "POST /appium/list_displays": ({ session: { ui } }) =>
    displaysOf(ui).map((id) => {
      const { width, height } = ui.space(id);
      const dpi = ui.density;
      const densities = {
        density: dpi / 160,
        densityDpi: dpi,
        scaledDensity: dpi / 160,
        xdpi: dpi,
        ydpi: dpi,
      };
      const metrics = { widthPixels: width, heightPixels: height, ...densities };
      return { id, physicalId: null, isDefault: id === 0, metrics };
    }),
  "POST /appium/reset_ax_cache": given(none, () => null),
};

const displaysOf = ({ faults }: LabUi): number[] => (faults.secondDisplay ? [0, 1] : [0]);

const withoutEmpty = ({ strategy, selector, context }: z.output<typeof locator>) => ({
  strategy,
  selector,
  ...(context && { context }),
});

function write(session: Uia2Session, node: UiNode, text: string): void {
  if (session.ui.setText(node, text)) return;
  throw new Uia2Failure(
    "invalid element state",
    `Cannot set the element to '${text}'. Did you interact with the correct element?`,
  );
}

/** Behind what the field shows, as the server does it: of a password it sees dots. */
function type(session: Uia2Session, node: UiNode, { text, replace }: z.output<typeof typed>): void {
  const before = node.text === node.hint || String(replace) === "true" ? "" : (node.text ?? "");
  write(session, node, before + text);
}

function focused(session: Uia2Session): UiNode {
  const search = (node: UiNode): UiNode | undefined => {
    if (node.focused) return node;
    for (const child of node.children) {
      const found = search(child);
      if (found) return found;
    }
    return undefined;
  };
  const node = search(session.ui.active().root);
  if (!node) throw new Uia2Failure("no such element", "No element has the focus");
  return node;
}

function press({ ui }: Uia2Session, { keycode, metastate }: z.output<typeof key>, long: boolean): void {
  ui.key(keycode, { long, ...(metastate !== undefined && { meta: metastate }) });
}

function isLandscape({ ui }: Uia2Session): boolean {
  const { width, height } = ui.space();
  return width > height;
}

/** Both spellings of a name are known to the server. */
function attribute(node: UiNode, name: string): string | null {
  const values: Record<string, string | boolean | undefined> = {
    text: node.text ?? "",
    name: node.text ?? "",
    "content-desc": node.contentDescription,
    "resource-id": node.resourceId,
    class: node.className,
    package: node.packageName,
    hint: node.hint,
    bounds: boundsOf(node),
    displayed: true,
    checkable: node.checkable,
    checked: node.checked,
    clickable: node.clickable,
    "long-clickable": node.longClickable,
    enabled: node.enabled,
    focusable: node.focusable,
    focused: node.focused,
    password: node.password,
    scrollable: node.scrollable,
    selected: node.selected,
    contentSize: node.scrollable ? contentSize(node) : undefined,
  };
  const known = aliases.get(name.toLowerCase()) ?? name;
  if (!(known in values)) {
    throw new Uia2Failure("invalid argument", `'${name}' attribute is unknown for the element`);
  }
  const value = values[known];
  return value === undefined ? null : String(value);
}

const aliases = new Map([
  ["contentdescription", "content-desc"],
  ["resourceid", "resource-id"],
  ["classname", "class"],
  ["longclickable", "long-clickable"],
  ["contentsize", "contentSize"],
]);

const contentSize = ({ bounds: { x, y, width, height } }: UiNode): string =>
  JSON.stringify({ width, height, top: y, left: x, scrollableOffset: 0, touchPadding: 0 });

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
