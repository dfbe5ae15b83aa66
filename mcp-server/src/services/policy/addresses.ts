import { BlockList, isIP } from "node:net";

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

export const isDeniedName = (host: string) => deniedNames.has(host.toLowerCase().replace(/\.+$/, ""));

/** Link-local or cloud metadata, in any spelling that `spellings` gives. */
export function isDeniedAddress(address: string): boolean {
  return spellings(address).some((text) => denied.check(text, isIP(text) === 4 ? "ipv4" : "ipv6"));
}

/** An address of this machine that only it can reach, or the address that means any. */
export function isLoopbackAddress(address: string): boolean {
  return spellings(address).some((text) => /^(127|0)\./.test(text) || text === "::1" || text === "::");
}

/** An IP address in its usual form, without brackets and zone; undefined for a name. Takes what a URL's host may be. */
export function ipAddress(host: string): string | undefined {
  const bare = host.replace(/^\[|\]$/g, "").replace(/%.*$/, "");
  if (isIP(bare) !== 0) return bare;
  // The URL parser knows the decimal, hexadecimal, octal and short spellings of IPv4.
  const parsed = parseUrl(`http://${host}/`)?.hostname ?? "";
  return isIP(parsed) === 4 ? parsed : undefined;
}

/** The address and, for an IPv6 address that carries an IPv4 one (mapped, compatible, NAT64, 6to4), that one too. */
export function spellings(address: string): string[] {
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
export const parseUrl = (text: string) => (URL.canParse(text) ? new URL(text) : undefined);
