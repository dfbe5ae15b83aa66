import type { ControllerContext } from "../contract.ts";
import { GuardingProxy } from "../proxy/guardingProxy.ts";
import { Names, resolveHost } from "../proxy/names.ts";
import { withPort } from "../proxy/place.ts";
import { findUpstreams } from "../proxy/upstream.ts";
import { masked } from "./settings.ts";

type Policy = Pick<ControllerContext, "allowUrl" | "allowAddress" | "allowHost" | "resolve">;

const namesOf = (policy: Policy) => new Names((host) => (policy.resolve ?? resolveHost)(host));

/** Throws URL_DENIED for a host that is denied, or that has a denied address. */
export async function allowHost(policy: Policy, host: string, port: number): Promise<void> {
  policy.allowHost(host, port);
  // ffmpeg says of a name that it does not resolve.
  const addresses = await namesOf(policy)
    .addressesOf(host)
    .catch(() => []);
  for (const address of addresses) policy.allowAddress(withPort(address, port));
}

/** How ffmpeg reaches servers by HTTP: each redirect and each part of a playlist is judged too. */
export type WayOut = {
  env: NodeJS.ProcessEnv;
  /** Why there was no answer: the address that was refused last, which is forgotten then, or what became of the connection. */
  takeReason(): string | undefined;
  close(): void;
};

/** `url` is where the stream is. */
export async function openWayOut(policy: Policy, url: string): Promise<WayOut> {
  let denied: string | undefined;
  const proxy = await GuardingProxy.start({
    ...{ policy, names: namesOf(policy), upstreams: findUpstreams(undefined, process.env) },
    denied(address, reason) {
      denied = `it leads to ${masked(address)}: ${reason}`;
    },
  });
  const address = proxy.address.replace("//", `//${proxy.username}:${proxy.password}@`);
  return {
    env: { ...process.env, http_proxy: address, no_proxy: "" },
    takeReason() {
      const taken = denied;
      denied = undefined;
      // A name such as ERR_CONNECTION_REFUSED.
      return taken ?? proxy.failureOf(url)?.slice(4).replaceAll("_", " ").toLowerCase();
    },
    close: () => proxy.close(),
  };
}
