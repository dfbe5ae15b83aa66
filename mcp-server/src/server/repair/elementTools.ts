import { elementIn, type Given, hasElement, isTrue, listOf, numberOf, objectsOf, textOf } from "./given.ts";
import { act, call, type Mapping, type Step, step, verify } from "./mapping.ts";

const press = (key: string): Step => step("press_key", { key });

export const click: Mapping = (given) => {
  const [x, y] = [numberOf(given, "x"), numberOf(given, "y")];
  const isPoint = x !== undefined && y !== undefined && !hasElement(given);
  if (isPoint) return act(step("tap_x_y", { x, y }));
  const isDouble = isTrue(given, "doubleClick", "dblClick");
  const command = isDouble ? "double_click" : given.button === "right" ? "right_click" : "click_element";
  return act(step(command, target(given)));
};

/** Maestro names an element by its text or id. */
const target = (given: Given): Step["params"] =>
  hasElement(given) || textOf(given, "id") === undefined || textOf(given, "text") !== undefined
    ? { ...elementIn(given, "text") }
    : { selector: `id=${textOf(given, "id")}` };

/** Some type into the element that they name, others where the focus is. */
export const type: Mapping = (given) => {
  const text = textOf(given, "text", "value") ?? "";
  const isKeyByKey = isTrue(given, "slowly") || !hasElement(given);
  const submit = isTrue(given, "submit") ? "ENTER" : textOf(given, "submitKey");
  const typed = step(isKeyByKey ? "type_text" : "input_text", { ...elementIn(given), text });
  return act(typed, ...(submit === undefined ? [] : [press(submit)]));
};

/** A box takes true or false, a list the text of its option. */
export function fieldStep(field: Given): Step {
  const value = textOf(field, "value", "text") ?? String(field.value ?? "");
  const where = elementIn(field, "name");
  const isSwitch = field.type === "checkbox" || field.type === "radio";
  const isOnOff = value === "true" || value === "false";
  if (isSwitch || (field.type === undefined && isOnOff))
    return step("set_checked", { ...where, checked: value === "true" });
  if (field.type === "combobox") return step("select_option", { ...where, option: value });
  if (field.type === "slider") return step("set_slider", { ...where, value: numberOf(field, "value") });
  return step("input_text", { ...where, text: value });
}

export const fillForm: Mapping = (given) => act(...objectsOf(given.fields ?? given.elements).map(fieldStep));

export const selectOption: Mapping = (given) => {
  const values = listOf(given.values ?? given.value);
  return act(
    step("select_option", { ...elementIn(given), option: values.length === 1 ? values[0] : values }),
  );
};

export const drag: Mapping = (given) => {
  const from = elementIn({
    ref: textOf(given, "from_uid", "startTarget", "startRef", "sourceElementUUID") ?? given.startElement,
  });
  const to = elementIn({
    ref: textOf(given, "to_uid", "endTarget", "endRef", "targetElementUUID") ?? given.endElement,
  });
  const onto = Object.fromEntries(Object.entries(to).map(([key, value]) => [`to_${key}`, value]));
  return act(step("drag_and_drop", { ...from, ...onto }));
};

export const upload: Mapping = (given) =>
  act(
    step("upload_file", { ...elementIn(given), files: listOf(given.filePaths ?? given.paths).map(fileName) }),
  );
const fileName = (path: unknown): string => String(path).split(/[\\/]/).at(-1) ?? "";

/** Remote controls name keys as Android does. */
const keyNames: Readonly<Record<string, string>> = { DPAD_CENTER: "OK", SELECT: "OK", APP_SWITCH: "MENU" };
export const pressKey: Mapping = (given) => {
  const key = textOf(given, "key", "button") ?? "";
  return act(press(keyNames[key] ?? key.replace(/^DPAD_/, "")));
};

/** A finger that moves up shows what is below. */
export const swipe: Mapping = (given) => {
  const opposite: Readonly<Record<string, string>> = { up: "down", down: "up", left: "right", right: "left" };
  return act(step("scroll", { direction: opposite[textOf(given, "direction") ?? "up"] }));
};

export const gesture: Mapping = (given) => {
  switch (given.action) {
    case "tap":
      return click(given);
    case "double_tap":
      return click({ ...given, doubleClick: true });
    case "scroll":
      return act(step("scroll", { direction: textOf(given, "direction") }));
    case "swipe":
    case "flick":
      return swipe(given);
    case "scroll_to_element":
      return act(step("scroll_to_element", { selector: locatorIn(given) }));
    default:
      return undefined;
  }
};

/** Our selectors begin with their kind where it is not a name. */
const locatorIn = (given: Given): string => {
  const kinds: Readonly<Record<string, string>> = { id: "id=", "css selector": "css=", xpath: "xpath=" };
  return `${kinds[textOf(given, "strategy", "using") ?? ""] ?? ""}${textOf(given, "selector", "value") ?? ""}`;
};

export const find: Mapping = (given) =>
  call("dump_ui_elements", {
    find: textOf(given, "text", "query", "selector", "regex", "element")?.slice(0, 200),
    interactive_only: false,
  });

export const roleSelector = (given: Given): string =>
  `role=${textOf(given, "role")}[name=${JSON.stringify(textOf(given, "accessibleName") ?? "")}]`;

export const verifyValue: Mapping = (given) => {
  const isSwitch = given.type === "checkbox" || given.type === "radio";
  const value = textOf(given, "value") ?? String(given.value ?? "");
  if (!isSwitch) return verify(step("element_value", { ...elementIn(given), value }));
  const isOn = step("element_checked", { ...elementIn(given) });
  return verify(value === "true" ? isOn : { ...isOn, negate: true });
};
