/** What a field accepts, and the error shown for it, without defaults. */
import * as dom from "../tree/dom.ts";
import { native } from "../tree/native.ts";
import * as sight from "../tree/sight.ts";
import * as near from "./near.ts";
import * as roles from "./roles.ts";
import * as words from "./words.ts";

/** Type, range, format and error, each in a few words. */
export function of(field: Element, role: string, name: string, states: readonly string[]): string[] {
  if (!near.isField(field, role) && !native.hasAttribute(field, "aria-valuemin")) return [];
  const error = states.includes("invalid") ? errorOf(field) : "";
  return [
    type(field),
    range(field, role),
    ...(field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement ? format(field, name) : []),
    native.matches(field, "select[multiple],input[multiple],[aria-multiselectable=true]") ? "multiple" : "",
    error && `error ${quoted(error)}`,
  ].filter((fact) => fact !== "");
}

function quoted(text: string): string {
  return `"${dom.cut(dom.clean(text), 120).replaceAll('"', "'")}"`;
}

function type(field: Element): string {
  if (!(field instanceof HTMLInputElement)) return "";
  return /^(date|time|datetime-local|month|week|email|tel|url|password)$/.test(field.type) ? field.type : "";
}

function range(field: Element, role: string): string {
  const isSlider = field instanceof HTMLInputElement && field.type === "range";
  const min = end(field, "min") || (isSlider ? "0" : "");
  const max = end(field, "max") || (isSlider ? "100" : "");
  const step = dom.clean(native.getAttribute(field, "step") ?? "");
  const steps = step === "" || step === "1" || role === "textbox" ? "" : `step ${step}`;
  const from = min && (max ? `${min} to ${max}` : `at least ${min}`);
  return [from || (max && `at most ${max}`), steps].filter((part) => part !== "").join(", ");
}

function end(field: Element, name: "min" | "max"): string {
  return dom.clean(native.getAttribute(field, name) ?? native.getAttribute(field, `aria-value${name}`) ?? "");
}

function format(field: HTMLInputElement | HTMLTextAreaElement, name: string): string[] {
  const pattern = field.getAttribute("pattern");
  const like = dom.clean(field.placeholder);
  const isShown = like !== "" && like !== name && near.isFormat(like);
  const accept = field instanceof HTMLInputElement && field.type === "file" ? field.accept : "";
  const isShort = field.maxLength >= 0 && field.maxLength < 100;
  return [
    pattern ? `pattern ${dom.cut(dom.clean(pattern), 60)}` : "",
    isShown ? `like ${quoted(like)}` : "",
    isShort ? `at most ${field.maxLength} characters` : "",
    dom.cut(dom.clean(accept), 60),
  ];
}

/** The error that the page ties to the field, else the browser's own. */
function errorOf(field: Element): string {
  const byId = (name: string) =>
    dom
      .named(field, name)
      .filter((one) => sight.rendered(one))
      .map((one) => words.read(one))
      .join(" ")
      .trim();
  const isJudged =
    field instanceof HTMLInputElement ||
    field instanceof HTMLSelectElement ||
    field instanceof HTMLTextAreaElement;
  return (
    byId("aria-errormessage") ||
    byId("aria-describedby") ||
    (isJudged && roles.isRefused(field) ? field.validationMessage : "")
  );
}

/** Words around an element whose name says little: a sign such as "+", or a handle that is only drawn. */
export function wordsAround(element: Element, role: string, name: string, derived: boolean): string {
  const isSign = name !== "" && !/[\p{L}\p{N}]/u.test(name);
  const signs = `${native.id(element)} ${native.getAttribute(element, "class") ?? ""}`;
  const isDrawn =
    derived &&
    /^(clickable|slider|spinbutton|scrollbar)$/.test(role) &&
    /slid|range|spin|step|knob|thumb|handle|pick|rating|star|calendar|date|time|colou?r/i.test(signs);
  if (!isSign && !isDrawn) return "";
  const said = near.around(element, name);
  // Many words describe a part of the page rather than this element.
  return said === "" || said.length > 60 ? "" : `next to "${said.replaceAll('"', "'")}"`;
}
