import { elementIn, type Given, hasElement, isTrue, listOf, numberOf, textOf } from "./given.ts";
import { act, call, type Mapping, step } from "./mapping.ts";

export const look: Mapping = (given) =>
  call("dump_ui_elements", isTrue(given, "verbose") ? { interactive_only: false } : {});
export const lookAll: Mapping = () => call("dump_ui_elements", { interactive_only: false });
export const hosts: Mapping = () => call("list_hosts");
export const deviceInfo: Mapping = () => call("get_device_info");

export const screenshot: Mapping = (given) => {
  const element = elementIn(given);
  const whole = isTrue(given, "fullPage", "full_page");
  return call("capture_screenshot", { ...("ref" in element && element), ...(whole && { full_page: true }) });
};

export const navigate: Mapping = (given) => {
  const kind = textOf(given, "type");
  if (kind === "back") return act(step("go_back"));
  if (kind === "forward") return act(step("go_forward"));
  if (kind === "reload") return act(step("reload"));
  return act(step("navigate_to_url", { url: textOf(given, "url") }));
};

/** A browser takes the url, any other device the deep link. */
export const openUrl: Mapping = (given) => {
  const url = textOf(given, "url");
  return act(step("open_app", { app: { url, deep_link: url } }));
};

export const pageList: Mapping = () => act(step("get_page_info"));
const tabOf = (given: Given) => numberOf(given, "index") ?? numberOf(given, "pageId");
export const selectTab: Mapping = (given) => act(step("switch_tab", { tab: tabOf(given) }));
export const closeTab: Mapping = (given) => act(step("close_tab", { tab: tabOf(given) }));
export const newTab: Mapping = (given) => act(step("open_tab", { url: textOf(given, "url") }));
export const tabs: Mapping = (given) => {
  const ways: Readonly<Record<string, Mapping>> = { new: newTab, close: closeTab, select: selectTab };
  return (ways[textOf(given, "action") ?? ""] ?? pageList)(given);
};

export const dialog: Mapping = (given) =>
  act(
    step("handle_dialog", {
      accept: given.action === undefined ? isTrue(given, "accept") : given.action === "accept",
      prompt_text: textOf(given, "promptText"),
    }),
  );

/** A bare time is answered by a look: every command of ours waits until the screen is usable. */
export const waitFor: Mapping = (given) => {
  const texts = listOf(given.text).map(String);
  const gone = textOf(given, "textGone");
  const timeout_ms = numberOf(given, "timeout");
  if (texts.length > 1) {
    const checks = texts.map((text) => step("text_visible", { text }));
    return call("verify_device_state", { checks, pass_condition: "any", timeout_ms });
  }
  if (texts.length === 0 && gone === undefined) return call("dump_ui_elements");
  return act(step("wait_for", { text: texts[0], text_gone: gone, timeout_ms }));
};

/** Theirs is a function, ours the body of one. */
export const evaluate: Mapping = (given) => {
  const code = textOf(given, "function", "script", "expression");
  if (code === undefined || hasElement(given)) return undefined;
  const isFunction = /^\s*(async\b\s*)?(function\b|\(|\w+\s*=>)/.test(code);
  return act(step("execute_javascript", { script: isFunction ? `return (${code})()` : code }));
};

export const resize: Mapping = (given) =>
  act(step("set_viewport_size", { width: numberOf(given, "width"), height: numberOf(given, "height") }));

export const media: Mapping = (given) =>
  act(
    step("emulate_media", {
      media: textOf(given, "media"),
      color_scheme: textOf(given, "colorScheme"),
      reduced_motion: textOf(given, "reducedMotion", "prefersReducedMotion"),
      contrast: textOf(given, "contrast", "prefersContrast"),
      forced_colors: textOf(given, "forcedColors"),
    }),
  );

const packageOf = (given: Given) => ({
  package: textOf(given, "packageName", "appId", "id", "bundle_id", "name"),
});
export const openApp: Mapping = (given) => act(step("open_app", { app: packageOf(given) }));
export const closeApp: Mapping = (given) => act(step("close_app", { app: packageOf(given) }));
export const listApps: Mapping = () => call("get_installed_apps");
export const appLifecycle: Mapping = (given) => {
  const ways: Readonly<Record<string, Mapping>> = {
    activate: openApp,
    terminate: closeApp,
    list: listApps,
    deep_link: openUrl,
  };
  return ways[textOf(given, "action") ?? ""]?.(given);
};

export const takeControl: Mapping = () => call("take_control");
export const session: Mapping = (given) => {
  if (given.action === "list") return call("list_hosts");
  return given.action === "delete" || given.action === "detach"
    ? call("release_control")
    : takeControl(given);
};
