import { isIP, isIPv4 } from "node:net";
import type { MiddlewareHandler } from "hono";
import { AgentError } from "../errors.ts";
import type { Settings } from "../settings.ts";

/** Who may reach the port. It is known only once it listens. */
export type Access = Pick<Settings["api"], "host" | "allowed_hosts" | "allowed_origins"> & { port(): number };

const loopbackNames = ["127.0.0.1", "localhost", "[::1]"];

/** True for addresses that only this machine can reach; a name other than `localhost` may be anywhere. */
export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || host === "[::1]" || (isIPv4(host) && host.startsWith("127."));

/** Throws CONFIG_INVALID when others could reach the port and nobody of them has a key of their own. */
export function checkExposure(settings: Settings["api"]): void {
  if (isLoopback(settings.host) || settings.keys.length > 0 || settings.jwt) return;
  throw new AgentError(
    "CONFIG_INVALID",
    `agents.api.host is ${settings.host}, beyond this machine, and nobody there could be told apart.`,
    "Add a key to agents.api.keys or set agents.api.jwt, or leave agents.api.host at 127.0.0.1.",
  );
}

/**
 * Why a request may not come in, if so. A web page that had its name point here (DNS rebinding) sends its own name as
 * Host, and any page its own Origin.
 */
export function refusal(
  headers: { host?: string | undefined; origin?: string | undefined },
  access: Access,
): AgentError | undefined {
  const host = headers.host?.toLowerCase() ?? "";
  if (!isAllowedHost(host, access)) {
    return new AgentError(
      "HOST_DENIED",
      `This server does not answer as ${JSON.stringify(host.slice(0, 200))}.`,
      "Use 127.0.0.1 or localhost with its port, or add the name to agents.api.allowed_hosts.",
    );
  }
  const origin = headers.origin?.toLowerCase();
  if (origin === undefined || isAllowedOrigin(origin, access)) return undefined;
  return new AgentError(
    "ORIGIN_DENIED",
    `Pages of ${JSON.stringify(origin.slice(0, 200))} may not call this server.`,
    "Add the origin to agents.api.allowed_origins if they should.",
  );
}

export function hostAndOrigin(access: Access): MiddlewareHandler {
  return async (c, next) => {
    const error = refusal({ host: c.req.header("host"), origin: c.req.header("origin") }, access);
    if (error) throw error;
    await next();
  };
}

function isAllowedHost(host: string, access: Access): boolean {
  const name = host.replace(/:\d+$/, "");
  const listed = access.allowed_hosts.some((entry) => [host, name].includes(entry.toLowerCase()));
  if (listed || loopbackNames.some((own) => host === `${own}:${access.port()}`)) return true;
  // Beyond loopback an address is as good as another: only names can be made to point here.
  return !isLoopback(access.host) && (name === access.host || isIP(name.replace(/^\[|\]$/g, "")) !== 0);
}

function isAllowedOrigin(origin: string, access: Access): boolean {
  if (access.allowed_origins.some((entry) => entry.toLowerCase().replace(/\/$/, "") === origin)) return true;
  return loopbackNames.some((name) => origin === `http://${name}:${access.port()}`);
}
