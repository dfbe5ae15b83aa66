import { z } from "zod";
import type { Scenario, TestData } from "../messages/contents.ts";
import type { Constraints, Envelope } from "../messages/envelope.ts";

/** A request, which the server takes for a change by its method. */
export type Write = { method: string; url: string };
export type Denial = { message: string; hint: string };

/** The server's judgement of production and personal data (`environments` of labwright.yaml). */
export type Policy = {
  /** Undefined: allowed. `personal`: names of data, and what they would be sent to. */
  judge(request: {
    environment?: string | undefined;
    writes: readonly Write[];
    personal?: { names: readonly string[]; to: string } | undefined;
  }): Promise<Denial | undefined>;
};

const requestStep = z.looseObject({
  api_request: z.looseObject({ method: z.string().default("GET"), url: z.string() }),
});

/** What the policy judges of a case: its requests, and a change at `place` unless it is `reads_only` or made of requests. */
export function writesOf({ reads_only, steps = [], testcase }: Scenario, place: string): Write[] {
  const requests = steps.map((step) => requestStep.safeParse(step).data?.api_request);
  const isOnlyRequests =
    testcase === undefined && steps.length > 0 && requests.every((one) => one !== undefined);
  const asked = requests.flatMap((one) => one ?? []);
  return reads_only || isOnlyRequests ? asked : [...asked, { method: "POST", url: place }];
}

/** What the policy judges of a plan or a message. `places`: addresses that its cases may change. */
export type Judged = {
  scenarios: readonly Scenario[];
  places: readonly string[];
  environment?: string | undefined;
  test_data: TestData;
  grants: Constraints["grants"];
};

/**
 * Why a plan or a message is refused: it would change production, or write personal data to a log, without a grant.
 * Asked before a run and again by each executor.
 */
export async function denialOf(
  { scenarios, places, environment, test_data, grants }: Judged,
  policy: Policy,
): Promise<Denial | undefined> {
  const used = namesUsed(scenarios);
  const mayLog = grants.includes("pii:log");
  const own = mayLog ? [] : test_data.pii.filter((name) => used.has(name));
  if (own.length > 0)
    return {
      message: `${own.join(", ")} hold personal data, which a run would write to its log.`,
      hint: "Use made-up data, pass it as {{secret.NAME}}, which is masked, or grant pii:log.",
    };
  const writes = scenarios.flatMap((one) => places.flatMap((place) => writesOf(one, place)));
  return policy.judge({
    environment,
    writes: grants.includes("write:production") ? [] : writes,
    ...(!mayLog && { personal: { names: [...used], to: "the run's log" } }),
  });
}

/** Names that cases take values of: inputs, and what stands first in `{{...}}`. */
function namesUsed(scenarios: readonly Scenario[]): ReadonlySet<string> {
  const texts = scenarios.map(({ steps, gherkin, inputs }) => JSON.stringify([steps, gherkin, inputs]));
  const placed = texts.flatMap((text) =>
    [...text.matchAll(/\{\{\s*([A-Za-z_]\w*)/g)].map(([, name = ""]) => name),
  );
  return new Set([...placed, ...scenarios.flatMap(({ inputs }) => Object.keys(inputs))]);
}

/** Test data whose values no log or model may see: their names stay. */
export function withoutPersonal<T>(value: T, names: readonly string[]): T {
  if (names.length === 0) return value;
  const hidden = new Set(names);
  return JSON.parse(
    JSON.stringify(value, (key, inner: unknown) =>
      hidden.has(key) && key !== "pii" ? "(personal data)" : inner,
    ),
  );
}

const dataSchema = z.looseObject({ pii: z.array(z.coerce.string()).default([]) }).optional();
const payloadSchema = z.object({
  test_data: dataSchema.catch(undefined),
  plan: z.object({ test_data: dataSchema }).optional().catch(undefined),
});

/** The test data of a message, or of the plan in it. */
export function testDataIn(payload: Envelope["payload"]): TestData {
  const { test_data, plan } = payloadSchema.parse(payload);
  return test_data ?? plan?.test_data ?? { pii: [] };
}
