import type { OurCall } from "./callLine.ts";
import * as device from "./deviceTools.ts";
import * as element from "./elementTools.ts";
import { elementIn, type Given, hasElement, listOf, numberOf, objectsOf, textOf } from "./given.ts";
import { stepsOfFlow } from "./maestroFlow.ts";
import { act, call, type Mapping, step, verify } from "./mapping.ts";

/** Our call for the tool of another server, with the caller's own arguments. Undefined where we have no counterpart. */
export function callOfOtherServer(name: string, given: Given): OurCall | undefined {
  const bare = bareName(name);
  const call = Object.hasOwn(tools, bare) ? tools[bare]?.(given) : undefined;
  const device = textOf(given, "device_id", "device", "deviceUdid", "deviceId", "udid");
  const session = textOf(given, "session_id", "sessionId");
  const where = { ...(device && { device_id: device }), ...(session && { session_id: session }) };
  return call && { ...call, arguments: { ...call.arguments, ...where } };
}

/** Servers put their own name before what the tool does: `browser_click`, `appium_mobile_press_key`. */
const bareName = (name: string): string =>
  name.replace(/^((browser|mobile|appium|maestro|playwright|puppeteer)_)+/, "");

const flow: Mapping = (given) => {
  const steps = stepsOfFlow(textOf(given, "yaml", "flow_yaml") ?? "");
  return steps && act(...steps);
};

/** Steps of which one is no action have no counterpart in one call. */
const batch: Mapping = (given) => {
  const calls = objectsOf(given.steps).map(({ name, arguments: args }) => {
    const [own = {}] = objectsOf(args);
    const bare = bareName(String(name));
    return Object.hasOwn(tools, bare) && bare !== "batch_commands" ? tools[bare]?.(own) : undefined;
  });
  const actions = calls.map((one) =>
    one?.tool === "execute_device_action" ? listOf(one.arguments.actions) : [],
  );
  return actions.every((some) => some.length > 0)
    ? call("execute_device_action", { actions: actions.flat() })
    : undefined;
};

/**
 * The tools that @playwright/mcp, chrome-devtools-mcp, @mobilenext/mobile-mcp, Appium MCP and Maestro publish and that we have a
 * counterpart of, older names of theirs included; without the server's prefix.
 */
const tools: Readonly<Record<string, Mapping>> = {
  click: element.click,
  click_at: element.click,
  click_on_screen_at_coordinates: element.click,
  mouse_click_xy: element.click,
  tap: element.click,
  tap_on: element.click,
  double_tap: (given) => element.click({ ...given, doubleClick: true }),
  double_tap_on_screen: (given) =>
    hasElement(given) ? element.click({ ...given, doubleClick: true }) : undefined,
  hover: (given) => act(step("hover_element", { ...elementIn(given) })),
  drag: element.drag,
  drag_and_drop: element.drag,
  mouse_move_xy: (given) => act(step("mouse_move", { x: numberOf(given, "x"), y: numberOf(given, "y") })),
  mouse_wheel: (given) =>
    act(step("mouse_wheel", { delta_x: numberOf(given, "deltaX"), delta_y: numberOf(given, "deltaY") })),
  swipe_on_screen: element.swipe,
  swipe: element.swipe,
  gesture: element.gesture,
  type: element.type,
  type_text: element.type,
  type_keys: element.type,
  input_text: element.type,
  set_value: element.type,
  fill: (given) => act(element.fieldStep(given)),
  fill_form: element.fillForm,
  select_option: element.selectOption,
  select: element.selectOption,
  upload_file: element.upload,
  press_key: element.pressKey,
  press_button: element.pressKey,
  back: () => act(step("press_key", { key: "BACK" })),
  navigate: device.navigate,
  navigate_page: device.navigate,
  navigate_back: () => act(step("go_back")),
  go_back: () => act(step("go_back")),
  open_url: device.openUrl,
  tabs: device.tabs,
  list_pages: device.pageList,
  select_page: device.selectTab,
  new_page: device.newTab,
  close_page: device.closeTab,
  close: () => act(step("close_tab")),
  handle_dialog: device.dialog,
  alert: (given) => (given.action === "get_text" ? undefined : device.dialog(given)),
  wait_for: device.waitFor,
  evaluate: device.evaluate,
  evaluate_script: device.evaluate,
  resize: device.resize,
  resize_page: device.resize,
  emulate_media: device.media,
  snapshot: device.look,
  take_snapshot: device.look,
  list_elements_on_screen: device.look,
  generate_locators: () => call("dump_ui_elements", { detail: "full" }),
  get_page_source: device.lookAll,
  inspect_screen: device.lookAll,
  inspect_view_hierarchy: device.lookAll,
  find: element.find,
  find_element: element.find,
  generate_locator: (given) => call("dump_ui_elements", { find: textOf(given, "element"), detail: "full" }),
  get_text: (given) => act(step("get_text", { ...elementIn(given) })),
  screenshot: device.screenshot,
  take_screenshot: device.screenshot,
  save_screenshot: device.screenshot,
  start_video: () => call("start_recording"),
  start_screen_recording: () => call("start_recording"),
  screencast_start: () => call("start_recording"),
  verify_text_visible: (given) => verify(step("text_visible", { text: textOf(given, "text") })),
  verify_element_visible: (given) =>
    verify(step("element_visible", { selector: element.roleSelector(given) })),
  verify_list_visible: (given) =>
    verify(...listOf(given.items).map((text) => step("text_visible", { text: String(text) }))),
  verify_value: element.verifyValue,
  list_devices: device.hosts,
  list_available_devices: device.hosts,
  select_device: device.takeControl,
  session_management: device.session,
  get_screen_size: device.deviceInfo,
  get_window_size: device.deviceInfo,
  list_apps: device.listApps,
  launch_app: device.openApp,
  terminate_app: device.closeApp,
  stop_app: device.closeApp,
  app: device.appLifecycle,
  app_lifecycle: device.appLifecycle,
  run: flow,
  run_flow: flow,
  batch_commands: batch,
};
