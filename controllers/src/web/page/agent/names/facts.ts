import type { InpageDom } from "../tree/dom.ts";
import { native } from "../tree/native.ts";
import type { InpageNear } from "./near.ts";
import type { InpageRoles } from "./roles.ts";
import type { InpageWords } from "./words.ts";

/** What a field takes, and the error shown for it; only what is not the default. Runs inside the page. */
export class InpageFacts {
  constructor(
    private readonly dom: InpageDom,
    private readonly roles: InpageRoles,
    private readonly words: InpageWords,
    private readonly near: InpageNear,
  ) {}

  /** Type, range, format and error, each in a few words. */
  of(field: Element, role: string, name: string, states: readonly string[]): string[] {
    if (!this.near.isField(field, role) && !native.hasAttribute(field, "aria-valuemin")) return [];
    const error = states.includes("invalid") ? this.error(field) : "";
    return [
      this.type(field),
      this.range(field, role),
      ...(field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement
        ? this.format(field, name)
        : []),
      native.matches(field, "select[multiple],input[multiple],[aria-multiselectable=true]") ? "multiple" : "",
      error && `error ${this.quoted(error)}`,
    ].filter((fact) => fact !== "");
  }

  private quoted(text: string): string {
    return `"${this.dom.cut(this.dom.clean(text), 120).replaceAll('"', "'")}"`;
  }

  private type(field: Element): string {
    if (!(field instanceof HTMLInputElement)) return "";
    return /^(date|time|datetime-local|month|week|email|tel|url|password)$/.test(field.type)
      ? field.type
      : "";
  }

  private range(field: Element, role: string): string {
    const isSlider = field instanceof HTMLInputElement && field.type === "range";
    const min = this.end(field, "min") || (isSlider ? "0" : "");
    const max = this.end(field, "max") || (isSlider ? "100" : "");
    const step = this.dom.clean(native.getAttribute(field, "step") ?? "");
    const steps = step === "" || step === "1" || role === "textbox" ? "" : `step ${step}`;
    const from = min && (max ? `${min} to ${max}` : `at least ${min}`);
    return [from || (max && `at most ${max}`), steps].filter((part) => part !== "").join(", ");
  }

  private end(field: Element, name: "min" | "max"): string {
    return this.dom.clean(
      native.getAttribute(field, name) ?? native.getAttribute(field, `aria-value${name}`) ?? "",
    );
  }

  private format(field: HTMLInputElement | HTMLTextAreaElement, name: string): string[] {
    const pattern = field.getAttribute("pattern");
    const like = this.dom.clean(field.placeholder);
    const isTold = like !== "" && like !== name && this.near.isFormat(like);
    const accept = field instanceof HTMLInputElement && field.type === "file" ? field.accept : "";
    const isShort = field.maxLength >= 0 && field.maxLength < 100;
    return [
      pattern ? `pattern ${this.dom.cut(this.dom.clean(pattern), 60)}` : "",
      isTold ? `like ${this.quoted(like)}` : "",
      isShort ? `at most ${field.maxLength} characters` : "",
      this.dom.cut(this.dom.clean(accept), 60),
    ];
  }

  /** What the page ties to the field as its error, else what the browser says of it. */
  private error(field: Element): string {
    const root = native.getRootNode(field);
    const byId = (name: string) =>
      (native.getAttribute(field, name) ?? "")
        .split(/\s+/)
        .flatMap((id) =>
          root instanceof Document || root instanceof ShadowRoot
            ? (native.getElementById(root, id) ?? [])
            : [],
        )
        .filter((one) => this.dom.rendered(one))
        .map((one) => this.words.read(one))
        .join(" ")
        .trim();
    const isJudged =
      field instanceof HTMLInputElement ||
      field instanceof HTMLSelectElement ||
      field instanceof HTMLTextAreaElement;
    return (
      byId("aria-errormessage") ||
      byId("aria-describedby") ||
      (isJudged && this.roles.isRefused(field) ? field.validationMessage : "")
    );
  }

  /** Words beside a thing whose name says little: a sign, or a handle that is only drawn. */
  beside(element: Element, role: string, name: string, derived: boolean): string {
    const isSign = name !== "" && !/[\p{L}\p{N}]/u.test(name);
    const signs = `${native.id(element)} ${native.getAttribute(element, "class") ?? ""}`;
    const isDrawn =
      derived &&
      /^(clickable|slider|spinbutton|scrollbar)$/.test(role) &&
      /slid|range|spin|step|knob|thumb|handle|pick|rating|star|calendar|date|time|colou?r/i.test(signs);
    if (!isSign && !isDrawn) return "";
    const said = this.near.around(element, name);
    // All the words of a page tell nothing of one thing on it.
    return said === "" || said.length > 60 ? "" : `beside "${said.replaceAll('"', "'")}"`;
  }
}
