import { isIP } from "node:net";

/** Where the server of an address is. `isPlain`: without TLS. */
export type Place = { host: string; port: number; isPlain: boolean };

/** Undefined for an address without a host. */
export function placeOf(url: string): Place | undefined {
  if (!URL.canParse(url)) return undefined;
  const { hostname, port, protocol } = new URL(url);
  if (hostname === "") return undefined;
  const isPlain = !/^(https|wss):$/.test(protocol);
  const host = hostname.replace(/^\[|\]$/g, "");
  return { host, port: Number(port) || (isPlain ? 80 : 443), isPlain };
}

/** `1.2.3.4:80`, `[::1]:80` or `name:80`. */
export const withPort = (host: string, port: number): string =>
  isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
