import { parseUrlPattern } from "../../domain/urlPattern.ts";
import { ToolError } from "../../errors.ts";
import { matchesUrl } from "./urlPolicy.ts";

/** `environments` of labwright.yaml, by name. `urls` are patterns as in `parseUrlPattern`. */
export type Environments = Readonly<
  Record<
    string,
    { production: boolean; urls: readonly string[]; allow_writes: boolean; pii: readonly string[] }
  >
>;

/** The run's environment, where it has one. An unknown name is only a label. */
type Place = { environment?: string | undefined };

export type WriteRequest = Place & {
  method: string;
  url: string;
  /** The caller explicitly allows writes to production. */
  grant?: boolean | undefined;
};

export type ProductionPolicy = {
  /**
   * Throws POLICY_DENIED for a request that may change data in production: neither GET, HEAD, OPTIONS nor TRACE, in an
   * environment marked `production` or at one of its addresses, without `grant` and without `allow_writes` there.
   */
  judgeWrite(request: WriteRequest): void;
  /**
   * Why a plan may not do what it would; undefined if it may. `personal` names data and what they would be sent to: those that
   * are `pii` of the environment, or of any without one, are refused.
   */
  judge(plan: Place & Planned): Promise<{ message: string; hint: string } | undefined>;
};

type Planned = {
  writes: readonly { method: string; url: string }[];
  personal?: { names: readonly string[]; to: string } | undefined;
};

const reads: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);

export const isWrite = (method: string): boolean => !reads.has(method.toUpperCase());

/** The one judgement of what a run may do to production. */
export function createProductionPolicy(environments: Environments): ProductionPolicy {
  const productions = Object.entries(environments)
    .filter(([, { production }]) => production)
    .map(([name, { urls, allow_writes }]) => ({ name, allow_writes, patterns: urls.map(parseUrlPattern) }));
  const found = (environment: string | undefined, text: string) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    return productions.filter(
      ({ name, patterns }) =>
        name === environment || (url && patterns.some((pattern) => matchesUrl(pattern, url))),
    );
  };
  const deniedWrite = ({ environment, method, url, grant }: WriteRequest) => {
    if (grant === true || !isWrite(method)) return undefined;
    const denying = found(environment, url).find(({ allow_writes }) => !allow_writes);
    return denying && writeDenied(denying.name, method.toUpperCase(), url);
  };
  const deniedData = (environment: string | undefined, { names, to }: NonNullable<Planned["personal"]>) => {
    const places = environment === undefined ? Object.keys(environments) : [environment];
    const personal = new Set(places.flatMap((place) => environments[place]?.pii ?? []));
    const sent = names.filter((name) => personal.has(name));
    return sent.length > 0 ? personalDataDenied(sent, to) : undefined;
  };
  return {
    judgeWrite(request) {
      const denied = deniedWrite(request);
      if (denied) throw denied;
    },
    async judge({ environment, writes, personal }) {
      const write = writes.map((one) => deniedWrite({ ...one, environment })).find(Boolean);
      const denied = write ?? (personal && deniedData(environment, personal));
      return denied && { message: denied.message, hint: denied.hint };
    },
  };
}

function writeDenied(environment: string, method: string, url: string): ToolError {
  const { origin, pathname } = URL.canParse(url) ? new URL(url) : { origin: "", pathname: url.slice(0, 200) };
  return new ToolError(
    "POLICY_DENIED",
    `${method} ${origin}${pathname} was not sent: it may change data, and "${environment}" is marked production.`,
    `Test against another environment, allow it in this call or run (allow_production: true, --allow-production), or set environments.${environment}.allow_writes in labwright.yaml.`,
    { environment, method, url: origin + pathname },
  );
}

const personalDataDenied = (names: readonly string[], to: string) =>
  new ToolError(
    "POLICY_DENIED",
    `${names.join(", ")} hold personal data (pii in labwright.yaml) and were not sent to ${to}.`,
    "Use made-up test data, or grant it explicitly.",
    { names, to },
  );
