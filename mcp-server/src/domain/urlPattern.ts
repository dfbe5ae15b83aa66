import { BlockList, isIP } from "node:net";
import { z } from "zod";

/**
 * `*` stands for any characters. `host`, `host:port` and `*.host` match a host, `scheme://host/path*` a URL, `address/bits` an IP.
 * `path` is absent where a pattern leaves the path open.
 */
export type UrlPattern =
  | ({ kind: "host"; port: string | undefined } & Hosts)
  | ({ kind: "url"; scheme: RegExp; path: RegExp | undefined } & Hosts)
  | { kind: "network"; contains(address: string): boolean };

/** `host` as it is written, in the spelling of a URL; `authority` matches it with the port that a URL shows, and without one. */
type Hosts = { host: string; authority: RegExp };

/** Throws a plain `Error` that says what is wrong with the pattern. */
export function parseUrlPattern(text: string): UrlPattern {
  const network = parseNetwork(text);
  if (network !== undefined) return network;
  if (text.includes("://")) return parseWholeUrl(text);
  const parts = /^([^\s:/?#@[\]]+|\[[0-9a-f:.]+\])(?::(\d{1,5}|\*))?$/i.exec(text);
  if (parts?.[1] === undefined) {
    throw new Error("is not host, host:port, *.host, scheme://host/path* or an IP network");
  }
  const host = hostIn(parts[1]);
  return { kind: "host", host, authority: glob(host), port: parts[2] === "*" ? undefined : parts[2] };
}

function parseWholeUrl(text: string): UrlPattern {
  const parts = /^([a-z*][a-z0-9+.*-]*):\/\/(\[[0-9a-f:.]+\]|[^\s/?#:]+)(:[\d*]+)?([/?]\S*)?$/i.exec(text);
  const [, scheme, name, port = "", path = "/*"] = parts ?? [];
  if (scheme === undefined || name === undefined) throw new Error("is not scheme://host/path*");
  const host = hostIn(name);
  const isAnyPath = /^\/+\*+$/.test(path);
  return {
    ...{ kind: "url", scheme: glob(scheme.toLowerCase()), host, authority: glob(host + port) },
    path: isAnyPath ? undefined : glob(plainPath(path)),
  };
}

/** A host as the URL parser writes it: spellings of one address are the same. One with `*` is taken as it is. */
function hostIn(text: string): string {
  const host = text.toLowerCase().replace(/\.$/, "");
  return !host.includes("*") && URL.canParse(`http://${host}/`) ? new URL(`http://${host}/`).hostname : host;
}

/** A path, with or without a query, in one spelling: percent forms are decoded once, `//` is `/`, and dots are resolved. */
export function plainPath(text: string): string {
  const [path = "", ...query] = text.split("?");
  const steps: string[] = [];
  for (const step of decoded(path).replace(/\\/g, "/").split("/")) {
    if (step === "..") steps.pop();
    else if (step !== "" && step !== ".") steps.push(step);
  }
  const isFolder = steps.length > 0 && /[/\\]\.{0,2}$/.test(decoded(path));
  return [`/${steps.join("/")}${isFolder ? "/" : ""}`, ...query.map(decoded)].join("?");
}

/** Percent forms that are not UTF-8 stay as they are. */
const decoded = (text: string) =>
  text.replace(/(?:%[0-9a-f]{2})+/gi, (forms) => {
    try {
      return decodeURIComponent(forms);
    } catch {
      return forms;
    }
  });

function parseNetwork(text: string): UrlPattern | undefined {
  const parts = /^\[?([0-9a-f.:]+)\]?(?:\/(\d{1,3}))?$/i.exec(text);
  const address = parts?.[1] ?? "";
  const version = isIP(address);
  if (version === 0) return undefined;
  const most = version === 4 ? 32 : 128;
  const bits = parts?.[2] === undefined ? most : Number(parts[2]);
  if (bits > most) throw new Error(`has more than ${most} bits`);
  const list = new BlockList();
  list.addSubnet(address, bits, version === 4 ? "ipv4" : "ipv6");
  return {
    kind: "network",
    contains: (other) => isIP(other) !== 0 && list.check(other, isIP(other) === 4 ? "ipv4" : "ipv6"),
  };
}

const glob = (text: string) =>
  new RegExp(`^${text.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replace(/\*+/g, ".*")}$`);

export const urlPatternSchema = z
  .string()
  .trim()
  .min(1)
  .max(500)
  .superRefine((text, context) => {
    try {
      parseUrlPattern(text);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      context.addIssue({ code: "custom", message: `"${text}" ${reason}` });
    }
  });
