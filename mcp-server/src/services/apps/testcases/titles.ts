import { type Check, selectorKinds } from "@labwright/controllers";
import type { Params } from "../../../domain/index.ts";

const longest = 120;

/** The name of a block without a label: what it says, with only the needed part of its selector. */
export function titleOf(command: string, params: Params, check: Pick<Check, "title"> | undefined): string {
  const { name, path } = targetOf(params);
  const { selector: _, ref: __, ...others } = params;
  const texts = Object.values(others).filter((value) => typeof value === "string");
  const head =
    check?.title?.(name ?? "the element", params) ?? [command, ...(name ? [name] : []), ...texts].join(" ");
  return cut(path === undefined ? head : `${head} (${path})`);
}

const cut = (text: string) => (text.length > longest ? `${text.slice(0, longest - 1)}…` : text);

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
