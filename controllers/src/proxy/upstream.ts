import { BlockList, isIP } from "node:net";
import { DeviceError } from "../errors.ts";

/** `proxy` of a web device: the way to the internet where there is no direct one. */
export type ProxySettings = {
  server: string;
  username?: string | undefined;
  password?: string | undefined;
  bypass?: string | undefined;
};

/** A proxy behind ours. `authorization` is the value of its Proxy-Authorization header. */
export type Upstream = { host: string; port: number; isTls: boolean; authorization: string | undefined };

/** Which proxy leads to a host; undefined for a direct connection. This machine is always reached directly. */
export type Upstreams = {
  /** `isPlain`: for http:, where the environment may name another proxy than for https: and web sockets. */
  to(host: string, port: number, isPlain: boolean): Upstream | undefined;
  /** Hosts of the proxies, for people; empty where there is none. */
  readonly names: readonly string[];
};

/** From the settings, else from HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY. Throws BROWSER_UNUSABLE for an address of another kind. */
export function findUpstreams(settings: ProxySettings | undefined, env: NodeJS.ProcessEnv): Upstreams {
  const read = (name: string) => env[name.toLowerCase()] || env[name] || undefined;
  const given = settings && upstreamOf(settings.server, settings);
  const plain = given ?? fromEnvironment(read("HTTP_PROXY") ?? read("ALL_PROXY"));
  const tls = given ?? fromEnvironment(read("HTTPS_PROXY") ?? read("ALL_PROXY"));
  const isDirect = bypassOf(settings ? settings.bypass : read("NO_PROXY"));
  return {
    names: [...new Set([plain, tls].flatMap((one) => (one ? [`${one.host}:${one.port}`] : [])))],
    to: (host, port, isPlain) =>
      isOfThisMachine(host) || isDirect(host, port) ? undefined : isPlain ? plain : tls,
  };
}

const fromEnvironment = (text: string | undefined) =>
  text === undefined ? undefined : upstreamOf(text.includes("://") ? text : `http://${text}`, {});

function upstreamOf(
  server: string,
  { username, password }: Pick<ProxySettings, "username" | "password">,
): Upstream {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new DeviceError(
      "BROWSER_UNUSABLE",
      "The proxy that is set for browsers is not http://host:port or https://host:port. Set proxy.server of the device, or HTTP_PROXY, HTTPS_PROXY and ALL_PROXY where Labwright is started.",
    );
  const user = username ?? decodeURIComponent(url.username);
  const secret = password ?? decodeURIComponent(url.password);
  const isTls = url.protocol === "https:";
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(url.port || (isTls ? 443 : 80)),
    isTls,
    authorization: user === "" ? undefined : `Basic ${Buffer.from(`${user}:${secret}`).toString("base64")}`,
  };
}

const isOfThisMachine = (host: string) =>
  /(^|\.)localhost\.?$/i.test(host) || host === "::1" || (isIP(host) === 4 && /^(127|0)\./.test(host));

/** As curl reads NO_PROXY: `*`, networks (`10.0.0.0/8`), or names that match themselves and what is below them, with a port where one is given. */
function bypassOf(text = ""): (host: string, port: number) => boolean {
  const names = text
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((name) => name !== "");
  return (host, port) =>
    names.some((name) => {
      if (name === "*") return true;
      if (name.includes("/")) return isInNetwork(host, name);
      const [, bare = name, onlyPort] = /^\*?\.?([^:]+|\[.*\])(?::(\d+))?$/.exec(name) ?? [];
      if (onlyPort !== undefined && Number(onlyPort) !== port) return false;
      const other = bare.replace(/^\[|\]$/g, "");
      return host === other || host.endsWith(`.${other}`);
    });
}

function isInNetwork(host: string, text: string): boolean {
  const [address = "", bits] = text.split("/");
  const [version, length] = [isIP(address), Number(bits)];
  if (version === 0 || version !== isIP(host) || !(length >= 0 && length <= (version === 4 ? 32 : 128)))
    return false;
  const network = new BlockList();
  const family = version === 4 ? "ipv4" : "ipv6";
  network.addSubnet(address, length, family);
  return network.check(host, family);
}
