import { BlockList, isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { DeviceError } from "@labwright/controllers";
import { parseUrlPattern, plainPath, type UrlPattern } from "../../domain/urlPattern.ts";

/** Which addresses devices and requests may reach. Both throw `URL_DENIED`. */
export type UrlPolicy = {
  /** Judges an address as a browser would read it: case, white space and spellings of IP addresses make no difference. */
  allowUrl(url: string): void;
  /** An address that a host name resolved to; with a port (`1.2.3.4:80`, `[::1]:80`) our own port is refused too. */
  allowAddress(address: string): void;
  /** Judges what is known before a TLS connection or a web socket: denied where no address there is allowed, whatever its path. */
  allowHost(host: string, port: number): void;
  /** Some rule on https: or web sockets has a path, or names wss: alone: {@link allowHost} cannot decide by it. */
  hasPathRules: boolean;
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
      hostProblem(url, own.port()) ?? ruleProblem((pattern) => matchesUrl(pattern, url), allow, deny);
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
    const place = port === undefined ? undefined : { host: ips[0] ?? address, port };
    const isNamed = (pattern: UrlPattern) =>
      pattern.kind === "network" ? ips.some(pattern.contains) : place && deniesPlace(pattern, place);
    if (deny.some(isNamed)) throw refuse(text, "url_policy.deny names it");
  };

  const allowHost = (host: string, port: number): void => {
    const text = `https://${isIP(host) === 6 ? `[${host}]` : host}:${port}/`;
    const url = parse(text);
    const place = { host: url.hostname, port };
    const isDenied = deny.some((pattern) => deniesPlace(pattern, place));
    const isAllowed = allow.length === 0 || allow.some((pattern) => mayAllow(pattern, place));
    const byRules = isDenied
      ? "url_policy.deny names it"
      : isAllowed
        ? undefined
        : "url_policy.allow does not name it";
    const reason = hostProblem(url, own.port()) ?? byRules;
    if (reason !== undefined) throw refuse(text, reason);
  };

  // Of http: a proxy sees the whole address.
  const isOpen = (pattern: UrlPattern) =>
    pattern.kind !== "url" ||
    ![...tunnelled, "wss"].some((name) => pattern.scheme.test(name)) ||
    (pattern.path === undefined && tunnelled.some((name) => pattern.scheme.test(name)));
  return { allowUrl, allowAddress, allowHost, hasPathRules: ![...allow, ...deny].every(isOpen) };
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
  const isOwn = ip === undefined ? isLocalName(host) : isOwnAddress(ip);
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

/** An address that a name resolves to is not known here: a network only matches an address that is written in the URL. */
export function matchesUrl(pattern: UrlPattern, url: URL): boolean {
  const place = { host: url.hostname, port: Number(portOf(url)) };
  if (pattern.kind !== "url") return matchesPlace(pattern, place);
  const scheme = url.protocol.slice(0, -1);
  return (
    matchesPlace(pattern, place, scheme) &&
    (pattern.path === undefined || pattern.path.test(plainPath(url.pathname + url.search)))
  );
}

/** A host in the spelling of a URL, and a port. */
type Place = { host: string; port: number };

/** Does not look at a pattern's path. `scheme` counts for one of kind `url`. */
function matchesPlace(pattern: UrlPattern, place: Place, scheme = ""): boolean {
  const hosts = namesOf(place.host.replace(/\.$/, ""));
  if (pattern.kind === "network") return hosts.some((host) => isIP(host) !== 0 && pattern.contains(host));
  if (pattern.kind === "url" && !pattern.scheme.test(scheme)) return false;
  const [port, usual] = [String(place.port), defaultPorts[`${scheme}:`]];
  if (pattern.kind === "host" && pattern.port !== undefined && pattern.port !== port) return false;
  const suffix = pattern.kind === "host" || port === usual ? "" : `:${port}`;
  return [...hosts, ...(isSameMachine(place.host, pattern.host) ? [pattern.host] : [])].some((host) =>
    pattern.authority.test((isIP(host) === 6 ? `[${host}]` : host) + suffix),
  );
}

/** What a proxy may see in a tunnel: `wss:` looks like `https:`. */
const tunnelled = ["https", "ws"];

const deniesPlace = (pattern: UrlPattern, place: Place): boolean =>
  pattern.kind === "url"
    ? pattern.path === undefined && tunnelled.some((scheme) => matchesPlace(pattern, place, scheme))
    : matchesPlace(pattern, place);

const mayAllow = (pattern: UrlPattern, place: Place): boolean =>
  [...tunnelled, "wss"].some((scheme) => matchesPlace(pattern, place, scheme));

/** A host, as it is written and as an address. `localhost` and the names below it are the addresses of loopback. */
function namesOf(host: string): string[] {
  if (isLocalName(host)) return [host, "127.0.0.1", "::1"];
  return [host.replace(/^\[|\]$/g, ""), ...spellings(host)];
}

/** Two spellings of loopback; two names below `localhost` may be two sites of one server. */
function isSameMachine(host: string, other: string): boolean {
  const isLocal = (one: string) => isLocalName(one) || isLoopbackAddress(one);
  const isBelow = (one: string) => isLocalName(one) && one.includes(".");
  return isLocal(host) && isLocal(other) && !(isBelow(host) && isBelow(other));
}

const isLocalName = (host: string) => /(^|\.)localhost\.?$/.test(host);

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

/**
 * Link-local networks and the addresses where clouds answer with credentials. Sources: RFC 3927, RFC 4291; the
 * documentation of AWS (IMDS and its IPv6 form), Google, Azure (wire server), Alibaba and Oracle.
 */
const deniedNetworks: readonly [string, number][] = [
  ["169.254.0.0", 16],
  ["100.100.100.200", 32],
  ["168.63.129.16", 32],
  ["192.0.0.192", 32],
  ["fe80::", 10],
  ["fd00:ec2::254", 128],
  ["fd20:ce::254", 128],
];

const deniedNames: ReadonlySet<string> = new Set([
  "metadata",
  "metadata.google.internal",
  "metadata.goog",
  "instance-data",
  "instance-data.ec2.internal",
]);

const denied = new BlockList();
for (const [address, bits] of deniedNetworks) {
  denied.addSubnet(address, bits, isIP(address) === 4 ? "ipv4" : "ipv6");
}

const isDeniedName = (host: string) => deniedNames.has(host.toLowerCase().replace(/\.+$/, ""));

/** Link-local or cloud metadata, in any spelling that `spellings` gives. */
function isDeniedAddress(address: string): boolean {
  return spellings(address).some((text) => denied.check(text, isIP(text) === 4 ? "ipv4" : "ipv6"));
}

/** An address of this machine that only it can reach, or the address that means any. */
function isLoopbackAddress(address: string): boolean {
  return spellings(address).some((text) => /^(127|0)\./.test(text) || text === "::1" || text === "::");
}

/** An IP address in its usual form, without brackets and zone; undefined for a name. Takes what a URL's host may be. */
function ipAddress(host: string): string | undefined {
  const bare = host.replace(/^\[|\]$/g, "").replace(/%.*$/, "");
  if (isIP(bare) !== 0) return bare;
  // The URL parser knows the decimal, hexadecimal, octal and short spellings of IPv4.
  const parsed = parseUrl(`http://${host}/`)?.hostname ?? "";
  return isIP(parsed) === 4 ? parsed : undefined;
}

/** The address and, for an IPv6 address that carries an IPv4 one (mapped, compatible, NAT64, 6to4), that one too. */
function spellings(address: string): string[] {
  const ip = ipAddress(address);
  if (ip === undefined) return [];
  if (isIP(ip) === 4) return [ip];
  const groups = expand(ip);
  const canonical = new URL(`http://[${ip}]/`).hostname.slice(1, -1);
  const inner = embedded(groups);
  return inner === undefined ? [canonical] : [canonical, inner];
}

function expand(ip: string): number[] {
  const canonical = new URL(`http://[${ip}]/`).hostname.slice(1, -1);
  const [head = "", tail] = canonical.split("::");
  const groups = (text: string) =>
    text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
  if (tail === undefined) return groups(head);
  const [left, right] = [groups(head), groups(tail)];
  return [...left, ...Array.from({ length: 8 - left.length - right.length }, () => 0), ...right];
}

function embedded(groups: readonly number[]): string | undefined {
  const prefix = groups
    .slice(0, 6)
    .map((group) => group.toString(16))
    .join(":");
  if (prefix === "0:0:0:0:0:ffff" || prefix === "64:ff9b:0:0:0:0") return dotted(groups[6], groups[7]);
  if (prefix === "0:0:0:0:0:0" && (groups[6] ?? 0) > 0) return dotted(groups[6], groups[7]);
  if (groups[0] === 0x2002) return dotted(groups[1], groups[2]);
  return undefined;
}

const dotted = (high = 0, low = 0) => [high >> 8, high & 255, low >> 8, low & 255].join(".");

/** `URL.parse` of Node 22. */
const parseUrl = (text: string) => (URL.canParse(text) ? new URL(text) : undefined);
