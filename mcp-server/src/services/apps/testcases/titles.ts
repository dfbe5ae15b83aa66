import { selectorKinds } from "@labwright/controllers";
import type { Params } from "../../../domain/index.ts";

const longest = 120;

/** The name of a block without a label: what it says, with only the needed part of its selector. */
export function titleOf(command: string, params: Params): string {
  const { name, path } = targetOf(params);
  const says = checks[command];
  const { selector: _, ref: __, ...others } = params;
  const texts = Object.values(others).filter((value) => typeof value === "string");
  const head = says
    ? says(name ?? "the element", params)
    : [command, ...(name ? [name] : []), ...texts].join(" ");
  return cut(path === undefined ? head : `${head} (${path})`);
}

const cut = (text: string) => (text.length > longest ? `${text.slice(0, longest - 1)}…` : text);

type Says = (target: string, params: Params) => string;

const checks: Readonly<Record<string, Says>> = {
  element_exists: (target) => `${target} exists`,
  element_visible: (target) => `${target} is visible`,
  element_hidden: (target) => `${target} is hidden`,
  element_enabled: (target) => `${target} is enabled`,
  element_checked: (target) => `${target} is checked`,
  element_focused: (target) => `${target} has the focus`,
  element_state: (target, params) => `${target} is ${String(params.state)}`,
  element_count: (target, params) => `${countOf(params)} of ${target}`,
  element_text: (target, params) => `${target} shows ${wanted(params, "text")}`,
  element_value: (target, params) => `${target} holds ${wanted(params, "value")}`,
  element_attribute: (target, params) =>
    params.value === undefined
      ? `${target} has the attribute ${String(params.attribute)}`
      : `${target} has ${String(params.attribute)} ${wanted(params, "value")}`,
  text_visible: (_, params) => `the screen shows ${wanted(params, "text")}`,
  app_shown: () => "the app is in front",
  url_matches: (_, params) => `the address is ${wanted(params, "url")}`,
  title_matches: (_, params) => `the title is ${wanted(params, "title")}`,
  dialog_seen: (_, params) => `a dialog was seen${about(params, "text")}`,
  console_error_seen: (_, params) => `a console error was seen${about(params, "text")}`,
  element_disabled: (target) => `${target} is disabled`,
  element_editable: (target) => `${target} is editable`,
  element_empty: (target) => `${target} is empty`,
  element_name: (target, params) => `${target} is named ${wanted(params, "name")}`,
  element_role: (target, params) => `${target} has the role ${String(params.role)}`,
  element_class: (target, params) => `${target} has class ${String(params.classes)}`,
  element_css: (target, params) => `${target} has ${String(params.property)} ${wanted(params, "value")}`,
  element_description: (target, params) => `${target} is described as ${wanted(params, "text")}`,
  element_error: (target, params) => `${target} reports an error${about(params, "text")}`,
  element_texts: (target) => `the texts of ${target}`,
  value_between: (target, params) => `${target} is ${boundsOf(params)}`,
  table_cell: (target, params) =>
    `${String(params.column)} of ${String(params.row)} in ${target} shows ${wanted(params, "text")}`,
  layout: (target, params) => `${target} is ${String(params.is).replaceAll("_", " ")}`,
  selected_text: (_, params) => `the selected text is ${wanted(params, "text")}`,
  no_page_errors: () => "the page has no errors",
  download_received: (_, params) => `a download was received${about(params, "name")}`,
  request_seen: (_, params) => `a request was seen${about(params, "url")}`,
};

const about = (params: Params, key: string) => (params[key] === undefined ? "" : `: ${wanted(params, key)}`);

function wanted(params: Params, key: string): string {
  const value = String(params[key] ?? "");
  if (params.match === "pattern") return `/${value.replace(/^\/|\/[a-z]*$/g, "")}/`;
  return `${params.match === "contains" ? "…" : ""}"${value}"${params.match === "contains" ? "…" : ""}`;
}

function countOf(params: Params): string {
  return params.count === undefined ? boundsOf(params) : String(params.count);
}

function boundsOf({ min, max }: Params): string {
  const bounds = [
    min !== undefined && `at least ${String(min)}`,
    max !== undefined && `at most ${String(max)}`,
  ];
  return bounds.filter(Boolean).join(" and ");
}

const prefixed = new RegExp(`^(${selectorKinds.join("|")})~?=([\\s\\S]*)$`);

/** An element's name if its selector has one, else its path in the page. */
function targetOf({ selector, ref }: Params): { name?: string; path?: string } {
  if (typeof selector !== "string") return ref === undefined ? {} : { name: `the element ${String(ref)}` };
  const trimmed = selector.trim();
  const [, kind, body = ""] = prefixed.exec(trimmed) ?? [];
  if (kind === "role") return { name: roleName(body) };
  if (kind === "css" || kind === "xpath" || kind === "native") return { path: body };
  if (kind !== undefined) return { name: quoted(body) };
  return /^(\(?\/\/|[#.][\w-])/.test(trimmed) ? { path: trimmed } : { name: quoted(trimmed) };
}

function roleName(body: string): string {
  const [, role = body, name] = /^([a-z]+)\s*\[\s*name\s*~?=\s*([\s\S]+)\]$/i.exec(body.trim()) ?? [];
  return name === undefined ? `the ${role}` : `${role} ${quoted(name)}`;
}

const quoted = (text: string) => `"${text.trim().replace(/^(["'])([\s\S]*)\1$/, "$2")}"`;
