import { BlockList, isIP } from "node:net";
import { z } from "zod";

/** `*` stands for any characters. `host`, `host:port` and `*.host` match a host, `scheme://host/path*` a URL, `address/bits` an IP. */
export type UrlPattern =
  | { kind: "host"; host: RegExp; port: string | undefined }
  | { kind: "url"; url: RegExp }
  | { kind: "network"; contains(address: string): boolean };

/** Throws a plain `Error` that says what is wrong with the pattern. */
export function parseUrlPattern(text: string): UrlPattern {
  const network = parseNetwork(text);
  if (network !== undefined) return network;
  if (text.includes("://")) return parseWholeUrl(text);
  const parts = /^([^\s:/?#@[\]]+)(?::(\d{1,5}|\*))?$/.exec(text);
  if (parts?.[1] === undefined) {
    throw new Error("is not host, host:port, *.host, scheme://host/path* or an IP network");
  }
  const port = parts[2] === "*" ? undefined : parts[2];
  return { kind: "host", host: glob(parts[1].toLowerCase().replace(/\.$/, "")), port };
}

function parseWholeUrl(text: string): UrlPattern {
  const parts = /^([a-z*][a-z0-9+.*-]*):\/\/([^\s/?#]+)(\/\S*)?$/i.exec(text);
  const [, scheme, authority, path] = parts ?? [];
  if (scheme === undefined || authority === undefined) throw new Error("is not scheme://host/path*");
  return { kind: "url", url: glob(`${scheme.toLowerCase()}://${authority.toLowerCase()}${path ?? "/*"}`) };
}

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
