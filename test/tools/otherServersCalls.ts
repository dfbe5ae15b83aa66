/**
 * Calls as models make them that know other servers, or that know ours half. Tools and arguments of other servers are as these
 * publish them: `tools/list` of @playwright/mcp 0.0.83, chrome-devtools-mcp 1.11.0 and @mobilenext/mobile-mcp 1.0.4; Appium MCP 1.92.5
 * and Maestro from their sources. `<Name>` stands for the ref of that element, `<page>` for the address of the page.
 */
export type ForeignCall = {
  on: "browser" | "box";
  tool: string;
  arguments: Record<string, unknown>;
  /** It is not answered with our call, but runs as it is. */
  works?: true;
};

const playwright: ForeignCall[] = [
  { on: "browser", tool: "browser_navigate", arguments: { url: "<page>second" } },
  { on: "browser", tool: "browser_navigate_back", arguments: {} },
  { on: "browser", tool: "browser_snapshot", arguments: {} },
  { on: "browser", tool: "browser_find", arguments: { text: "Sign in" } },
  { on: "browser", tool: "browser_click", arguments: { element: "Sign in button", target: "<Sign in>" } },
  {
    on: "browser",
    tool: "browser_click",
    arguments: { element: "Sign in", ref: "<Sign in>", doubleClick: true },
  },
  { on: "browser", tool: "browser_hover", arguments: { element: "Sign in button", target: "#sign-in" } },
  {
    on: "browser",
    tool: "browser_type",
    arguments: { target: "<Email>", text: "a@b.example", submit: true },
  },
  {
    on: "browser",
    tool: "browser_fill_form",
    arguments: {
      fields: [
        { name: "Email", type: "textbox", target: "<Email>", value: "a@b.example" },
        { name: "Remember me", type: "checkbox", target: "<Remember me>", value: "true" },
        { name: "Country", type: "combobox", target: "<Country>", value: "Spain" },
      ],
    },
  },
  { on: "browser", tool: "browser_select_option", arguments: { target: "<Country>", values: ["Spain"] } },
  {
    on: "browser",
    tool: "browser_drag",
    arguments: { startElement: "Card", startTarget: "<Card>", endElement: "Basket", endTarget: "<Basket>" },
  },
  { on: "browser", tool: "browser_press_key", arguments: { key: "ArrowDown" } },
  { on: "browser", tool: "browser_wait_for", arguments: { text: "Welcome" } },
  {
    on: "browser",
    tool: "browser_take_screenshot",
    arguments: { type: "png", fullPage: true, scale: "css" },
  },
  { on: "browser", tool: "browser_evaluate", arguments: { function: "() => document.title" } },
  { on: "browser", tool: "browser_tabs", arguments: { action: "new", url: "<page>second" } },
  { on: "browser", tool: "browser_handle_dialog", arguments: { accept: true, promptText: "yes" } },
  { on: "browser", tool: "browser_resize", arguments: { width: 800, height: 600 } },
  { on: "browser", tool: "browser_verify_text_visible", arguments: { text: "Welcome" } },
  {
    on: "browser",
    tool: "browser_verify_element_visible",
    arguments: { role: "button", accessibleName: "Sign in" },
  },
  {
    on: "browser",
    tool: "browser_verify_value",
    arguments: { type: "checkbox", element: "Remember me", target: "<Remember me>", value: "false" },
  },
];

const devTools: ForeignCall[] = [
  { on: "browser", tool: "take_snapshot", arguments: { pageId: 1, verbose: true } },
  { on: "browser", tool: "click", arguments: { pageId: 1, uid: "<Sign in>", includeSnapshot: true } },
  { on: "browser", tool: "fill", arguments: { pageId: 1, uid: "<Email>", value: "a@b.example" } },
  {
    on: "browser",
    tool: "fill_form",
    arguments: {
      pageId: 1,
      elements: [
        { uid: "<Email>", value: "a@b.example" },
        { uid: "<Remember me>", value: "true" },
      ],
    },
  },
  { on: "browser", tool: "navigate_page", arguments: { pageId: 1, type: "reload" } },
  { on: "browser", tool: "new_page", arguments: { url: "<page>second" } },
  { on: "browser", tool: "list_pages", arguments: {} },
  {
    on: "browser",
    tool: "wait_for",
    arguments: { pageId: 1, text: ["Welcome", "Good bye"], timeout: 5_000 },
  },
  { on: "browser", tool: "take_screenshot", arguments: { pageId: 1, uid: "<Sign in>", format: "png" } },
  { on: "browser", tool: "evaluate_script", arguments: { pageId: 1, function: "() => 1 + 1" } },
];

const mobile: ForeignCall[] = [
  { on: "box", tool: "mobile_list_available_devices", arguments: {} },
  { on: "box", tool: "mobile_list_elements_on_screen", arguments: { device: "box" } },
  {
    on: "browser",
    tool: "mobile_click_on_screen_at_coordinates",
    arguments: { device: "browser", x: 20, y: 20 },
  },
  { on: "box", tool: "mobile_click_on_screen_at_coordinates", arguments: { device: "box", ref: "<Movies>" } },
  { on: "box", tool: "mobile_tap", arguments: { device: "box", element: "Movies" } },
  { on: "box", tool: "mobile_launch_app", arguments: { device: "box", packageName: "simulated.movies" } },
  { on: "box", tool: "mobile_press_button", arguments: { device: "box", button: "DPAD_DOWN" } },
  {
    on: "browser",
    tool: "mobile_type_keys",
    arguments: { device: "browser", text: "a@b.example", submit: true },
  },
  { on: "browser", tool: "mobile_open_url", arguments: { device: "browser", url: "<page>second" } },
  { on: "box", tool: "mobile_swipe_on_screen", arguments: { device: "box", direction: "up" } },
  { on: "box", tool: "mobile_take_screenshot", arguments: { device: "box" } },
  { on: "box", tool: "mobile_list_apps", arguments: { device: "box" } },
  { on: "box", tool: "mobile_get_screen_size", arguments: { device: "box" } },
  {
    on: "box",
    tool: "mobile_batch_commands",
    arguments: {
      device: "box",
      steps: [
        { name: "mobile_press_button", arguments: { button: "DPAD_DOWN" } },
        { name: "mobile_press_button", arguments: { button: "HOME" } },
      ],
    },
  },
];

const appium: ForeignCall[] = [
  { on: "box", tool: "select_device", arguments: { platform: "android", deviceUdid: "box" } },
  { on: "box", tool: "appium_session_management", arguments: { action: "create", platform: "android" } },
  { on: "box", tool: "appium_gesture", arguments: { action: "tap", elementUUID: "<Movies>" } },
  { on: "box", tool: "appium_gesture", arguments: { action: "swipe", direction: "up" } },
  { on: "box", tool: "appium_find_element", arguments: { strategy: "accessibility id", selector: "Movies" } },
  { on: "browser", tool: "appium_set_value", arguments: { elementUUID: "<Email>", text: "a@b.example" } },
  { on: "browser", tool: "appium_get_text", arguments: { elementUUID: "<Sign in>" } },
  { on: "box", tool: "appium_mobile_press_key", arguments: { key: "HOME" } },
  { on: "box", tool: "appium_app_lifecycle", arguments: { action: "activate", id: "simulated.movies" } },
  { on: "box", tool: "appium_alert", arguments: { action: "accept" } },
  { on: "box", tool: "appium_get_page_source", arguments: {} },
];

const maestro: ForeignCall[] = [
  { on: "box", tool: "inspect_screen", arguments: { device_id: "box" } },
  { on: "box", tool: "tap_on", arguments: { device_id: "box", text: "Movies" } },
  { on: "box", tool: "launch_app", arguments: { device_id: "box", appId: "simulated.live" } },
  {
    on: "box",
    tool: "run",
    arguments: {
      device_id: "box",
      yaml: "appId: simulated.movies\n---\n- launchApp\n- assertVisible: All movies\n- back",
    },
  },
];

const home = { command: "text_visible", params: { text: "Welcome home" } };
const down = { command: "press_key", params: { key: "DOWN" } };

const ours: ForeignCall[] = [
  {
    on: "box",
    tool: "verify_device_state",
    arguments: { checks: [{ command: "text_visible", text: "Welcome home" }] },
  },
  { on: "box", tool: "verify_device_state", arguments: { verifications: [home], timeout: 2_000 } },
  { on: "box", tool: "verify_device_state", arguments: { command: "text_visible", text: "Welcome home" } },
  {
    on: "box",
    tool: "verify_device_state",
    arguments: { checks: [{ type: "text_visible", text: "Welcome home" }] },
  },
  {
    on: "box",
    tool: "verify_device_state",
    arguments: { checks: [{ command: "element_visible", element: "Movies" }] },
  },
  { on: "box", tool: "verify_device_state", arguments: { checks: home, timeout_ms: "2000" }, works: true },
  {
    on: "browser",
    tool: "execute_device_action",
    arguments: { actions: [{ command: "navigate_to_url", url: "<page>second" }] },
  },
  {
    on: "browser",
    tool: "execute_device_action",
    arguments: { command: "navigate_to_url", url: "<page>second" },
  },
  {
    on: "box",
    tool: "execute_device_action",
    arguments: { steps: [{ action: "click_element", selector: "Movies" }] },
  },
  {
    on: "box",
    tool: "execute_device_action",
    arguments: { actions: [{ name: "click_element", arguments: { selector: "Movies" } }] },
  },
  { on: "box", tool: "execute_device_action", arguments: { action: "press_key", key: "DOWN" } },
  { on: "box", tool: "execute_device_action", arguments: { actions: JSON.stringify([down]) }, works: true },
  { on: "box", tool: "execute_device_action", arguments: { actions: down, look: "false" }, works: true },
  {
    on: "box",
    tool: "execute_device_action",
    arguments: { actions: [{ command: "press_key", params: { key: "DOWN", count: "2" } }] },
    works: true,
  },
  {
    on: "box",
    tool: "execute_device_action",
    arguments: { actions: [{ ...down, params: JSON.stringify(down.params) }] },
    works: true,
  },
  { on: "box", tool: "execute_testcase", arguments: { name: "goes home" } },
  { on: "box", tool: "execute_testcase", arguments: { test_name: "goes home", waitMs: "20000" } },
  {
    on: "box",
    tool: "save_testcase",
    arguments: {
      name: "goes home again",
      blocks: [
        { id: "start", type: "start" },
        { id: "home", type: "verification", ...home },
        { id: "end", type: "success" },
      ],
      edges: [
        { from: "start", to: "home" },
        { from: "home", to: "end" },
      ],
    },
  },
  { on: "box", tool: "dump_ui_elements", arguments: { query: "Movies", max_tokens: "200" } },
  {
    on: "box",
    tool: "dump_ui_elements",
    arguments: { interactive_only: "false", max_tokens: "200" },
    works: true,
  },
  { on: "box", tool: "capture_screenshot", arguments: { deviceId: "box", fullPage: "true" } },
  { on: "box", tool: "take_control", arguments: { device: "box" } },
  { on: "box", tool: "click_element", arguments: { selector: "Movies" } },
  { on: "box", tool: "text_visible", arguments: { text: "Welcome home" } },
];

export const foreignCalls: readonly ForeignCall[] = [
  ...playwright,
  ...devTools,
  ...mobile,
  ...appium,
  ...maestro,
  ...ours,
];
