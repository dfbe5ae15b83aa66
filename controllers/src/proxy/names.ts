import { lookup } from "node:dns/promises";
import { isIP } from "node:net";

/** Resolves a host name to addresses, or throws an error with the code that Node's `dns.lookup` gives it. */
export type Resolve = (host: string) => Promise<readonly string[]>;

const keptMs = 10_000;
const mostKept = 500;

/**
 * The addresses of a host as a browser finds them: `localhost` and the names below it are this machine (RFC 6761), without a
 * request. Rejects as `dns.lookup` does.
 */
export const resolveHost: Resolve = async (host) => {
  if (/(^|\.)localhost\.?$/i.test(host)) return ["::1", "127.0.0.1"];
  return (await lookup(host, { all: true })).map(({ address }) => address);
};

/** Answers of a resolver, each kept for ten seconds. A failure is not kept. */
export class Names {
  readonly #kept = new Map<string, { addresses: Promise<readonly string[]>; until: number }>();

  constructor(private readonly resolve: Resolve) {}

  addressesOf(host: string): Promise<readonly string[]> {
    if (isIP(host) !== 0) return Promise.resolve([host]);
    const known = this.#kept.get(host);
    if (known !== undefined && known.until > performance.now()) return known.addresses;
    const addresses = this.resolve(host);
    if (this.#kept.size >= mostKept) this.#kept.clear();
    this.#kept.set(host, { addresses, until: performance.now() + keptMs });
    addresses.catch(() => this.#kept.delete(host));
    return addresses;
  }
}
