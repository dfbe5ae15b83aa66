import { networkInterfaces } from "node:os";
import { DeviceError } from "@labwright/controllers";
import { parseUrlPattern, type UrlPattern } from "../../domain/urlPattern.ts";
import {
  ipAddress,
  isDeniedAddress,
  isDeniedName,
  isLoopbackAddress,
  parseUrl,
  spellings,
} from "./addresses.ts";

/** Which addresses devices and requests may reach. Both throw `URL_DENIED`. */
export type UrlPolicy = {
  /** Judges an address as a browser would read it: case, white space and spellings of IP addresses make no difference. */
  allowUrl(url: string): void;
  /** An address that a host name resolved to; with a port (`1.2.3.4:80`, `[::1]:80`) our own port is refused too. */
  allowAddress(address: string): void;
};

export type UrlRules = { allow: readonly string[]; deny: readonly string[] };

const webSchemes: ReadonlySet<string> = new Set(["http:", "https:", "ws:", "wss:"]);
const defaultPorts: Readonly<Record<string, string>> = {
  "http:": "80",
  "https:": "443",
  "ws:": "80",
  "wss:": "443",
};

/**
 * The default: http(s), ws(s), about:blank and blob: of those; loopback and private networks are allowed, since people
 * test there. Always denied: other schemes, link-local and cloud-metadata addresses, and our own port. With `allow`,
 * nothing else is allowed; `deny` wins; neither lifts what is always denied. Patterns as in `parseUrlPattern`.
 */
export function createUrlPolicy(rules: UrlRules, own: { port(): number | undefined }): UrlPolicy {
  const allow = rules.allow.map(parseUrlPattern);
  const deny = rules.deny.map(parseUrlPattern);

  const allowUrl = (text: string): void => {
    const url = parse(text);
    if (url.protocol === "about:" && (url.pathname === "blank" || url.pathname === "srcdoc")) return;
    if (url.protocol === "blob:" && /^(https?|wss?):/.test(url.pathname)) {
      allowUrl(url.pathname);
      return;
    }
    if (!webSchemes.has(url.protocol)) throw refuse(text, `the scheme ${url.protocol} is not allowed`);
    const reason =
      hostProblem(url, own.port()) ?? ruleProblem((pattern) => matches(pattern, url), allow, deny);
    if (reason !== undefined) throw refuse(text, reason);
  };

  const allowAddress = (text: string): void => {
    const { address, port } = splitAddress(text);
    const ips = spellings(address);
    if (ips.length === 0) throw refuse(text, "it is not an IP address");
    if (isDeniedAddress(address))
      throw refuse(text, "link-local and cloud-metadata addresses are never allowed");
    if (port !== undefined && port === own.port() && isOwnAddress(address)) {
      throw refuse(text, "it is this server's own port");
    }
    const listed = deny.some((pattern) => pattern.kind === "network" && ips.some(pattern.contains));
    if (listed) throw refuse(text, "url_policy.deny names it");
  };
  return { allowUrl, allowAddress };
}

function parse(text: string): URL {
  const url = parseUrl(text);
  if (url === undefined) throw refuse(text, "it is not an absolute URL");
  return url;
}

function hostProblem(url: URL, ownPort: number | undefined): string | undefined {
  const host = url.hostname;
  if (isDeniedName(host)) return "cloud-metadata addresses are never allowed";
  const ip = ipAddress(host);
  if (ip !== undefined && isDeniedAddress(ip)) {
    return "link-local and cloud-metadata addresses are never allowed";
  }
  const isOwn = ip === undefined ? /(^|\.)localhost\.?$/.test(host) : isOwnAddress(ip);
  if (isOwn && ownPort !== undefined && portOf(url) === String(ownPort))
    return "it is this server's own port";
  return undefined;
}

const portOf = (url: URL) => url.port || defaultPorts[url.protocol] || "";

function isOwnAddress(address: string): boolean {
  if (isLoopbackAddress(address)) return true;
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return own.some((entry) => spellings(entry.address).some((ip) => spellings(address).includes(ip)));
}

function ruleProblem(
  test: (pattern: UrlPattern) => boolean,
  allow: readonly UrlPattern[],
  deny: readonly UrlPattern[],
): string | undefined {
  if (deny.some(test)) return "url_policy.deny names it";
  if (allow.length > 0 && !allow.some(test)) return "url_policy.allow does not name it";
  return undefined;
}

function matches(pattern: UrlPattern, url: URL): boolean {
  const host = url.hostname.replace(/\.$/, "");
  if (pattern.kind === "network") return spellings(host).some(pattern.contains);
  if (pattern.kind === "url")
    return pattern.url.test(`${url.protocol}//${url.host}${url.pathname}${url.search}`);
  return pattern.host.test(host) && (pattern.port === undefined || pattern.port === portOf(url));
}

function splitAddress(text: string): { address: string; port: number | undefined } {
  const parts = /^(?:\[([^\]]+)\]|([^:]+)):(\d+)$/.exec(text);
  const address = parts?.[1] ?? parts?.[2];
  return address === undefined ? { address: text, port: undefined } : { address, port: Number(parts?.[3]) };
}

/** Shows scheme, host and path alone: the rest may hold credentials. */
function refuse(text: string, reason: string): DeviceError {
  const url = parseUrl(text);
  const shown = url?.host ? `${url.protocol}//${url.host}${url.pathname}` : text.trim().split(/[?#]/)[0];
  const short = (shown ?? "").slice(0, 200);
  return new DeviceError(
    "URL_DENIED",
    `${short} is not allowed: ${reason}. Use another address, or change url_policy in labwright.yaml.`,
    { url: short, reason },
  );
}
