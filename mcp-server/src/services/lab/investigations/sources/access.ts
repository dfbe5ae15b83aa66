import { ToolError } from "../../../../errors.ts";
import type { Secrets } from "../../../ports.ts";
import { type Limits, tooSlow, unreachable } from "./source.ts";

/** A request by the judged way out; see `policy/allowedFetch.ts` for what it throws. */
export type Http = (
  url: string,
  init: {
    method?: string;
    headers?: Readonly<Record<string, string>>;
    body?: string;
    signal: AbortSignal;
    maxBytes?: number;
    followRedirects?: boolean;
  },
) => Promise<Response>;

/** A request that ends with its caller and at its deadline. Throws CONNECTION_REFUSED and REQUEST_TIMEOUT. */
export async function send(
  { name, http, url }: { name: string; http: Http; url: URL },
  init: Omit<Parameters<Http>[1], "signal">,
  { signal, timeoutMs }: Limits,
): Promise<Response> {
  const late = AbortSignal.timeout(timeoutMs);
  // Node collects a timeout that only AbortSignal.any knows.
  late.addEventListener("abort", () => undefined, { once: true });
  try {
    return await http(url.href, { ...init, signal: AbortSignal.any([signal, late]) });
  } catch (error) {
    signal.throwIfAborted();
    if (late.aborted) throw tooSlow(name, timeoutMs);
    if (error instanceof ToolError && error.code === "APP_UNREACHABLE")
      throw unreachable(name, error.message.replace(/\.$/, ""), error);
    throw error;
  }
}

export type Auth = "basic" | "api_key" | "bearer" | "none";
/** `values` are what `credentials` names, in its order. */
export type Access = { auth?: Auth | undefined; header?: string | undefined; values: readonly string[] };

const named = /^env:([A-Za-z_][A-Za-z0-9_]*(?:\s*,\s*(?:env:)?[A-Za-z_][A-Za-z0-9_]*)*)$/;

/**
 * The values that `env:NAME` or `env:NAME,OTHER` name: secrets of the configuration, else variables of the daemon, which are masked
 * from then on. Throws SECRET_NOT_FOUND, and CONFIG_INVALID for another form, such as `aws_iam`.
 */
export function credentialsOf(
  credentials: string | undefined,
  secrets: Pick<Secrets, "ofEnvironment">,
): string[] {
  if (credentials === undefined) return [];
  const names = named.exec(credentials.trim())?.[1];
  if (names !== undefined)
    return names.split(",").map((name) => secrets.ofEnvironment(name.trim().replace(/^env:/, "")));
  const isIam = credentials.trim() === "aws_iam";
  throw new ToolError(
    "CONFIG_INVALID",
    isIam
      ? "credentials: aws_iam is not supported: Labwright signs in with a name and a password."
      : `credentials: "${credentials.slice(0, 60)}" is not of the form env:NAME.`,
    isIam
      ? "Get temporary ones with `aws redshift get-cluster-credentials`, set a variable to postgres://user:password@host:5439/db, and write credentials: env:NAME."
      : "Set a variable or a secret, and write credentials: env:NAME; two values are env:USER,PASSWORD.",
  );
}

/** The headers by which a request signs in. Throws CONFIG_INVALID for too few credentials. */
export function headersOf({ auth = "none", header, values }: Access): Record<string, string> {
  const [first, second] = values;
  if (first === undefined) {
    if (auth === "none") return {};
    throw needs(`auth: ${auth} needs credentials`);
  }
  if (auth === "api_key") return { [header ?? "x-api-key"]: first };
  if (auth !== "basic") return { authorization: `Bearer ${first}` };
  if (second === undefined && !first.includes(":")) throw needs("auth: basic needs a user and a password");
  const pair = second === undefined ? first : `${first}:${second}`;
  return { authorization: `Basic ${Buffer.from(pair).toString("base64")}` };
}

const needs = (what: string) =>
  new ToolError(
    "CONFIG_INVALID",
    `${what}.`,
    "Write credentials: env:USER,PASSWORD, or credentials: env:KEY.",
  );
