import { BlockList, isIP } from "node:net";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** True for addresses that only this machine can reach; a name other than `localhost` may be anywhere. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, "");
  if (bare === "localhost") return true;
  const family = isIP(bare);
  return family !== 0 && loopback.check(bare, family === 6 ? "ipv6" : "ipv4");
}

/** Beyond loopback without a certificate or a named proxy, the token could be read on its way. */
export const isExposed = (server: { host: string; tls?: unknown; trustedProxy?: unknown }): boolean =>
  !isLoopback(server.host) && !server.tls && !server.trustedProxy;
