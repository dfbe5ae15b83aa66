import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { AgentError, type Clock } from "@labwright/agent-client";
import type { Context } from "hono";
import { bodyLimit } from "hono/body-limit";
import { type ApiDeps, basePath } from "./deps.ts";
import { invalidInput } from "./errors.ts";
import { type ApiEnv, type Gate, limitAddress } from "./gate.ts";
import { githubEvent } from "./github.ts";
import { failures, json } from "./schemas.ts";
import { checkGithubSignature, checkSignature, invalid } from "./signature.ts";

const path = `${basePath}/events`;
const maxBytes = 1024 * 1024;
/** Longer than a signature is valid. */
const rememberMs = 900_000;

const eventSchema = z
  .strictObject({
    type: z
      .string()
      .max(100)
      .regex(/^webhook\.[a-z]\w*(\.\w+)*$/, "must be a type such as webhook.ci_failure"),
    device_id: z.string().min(1).max(200).optional(),
    payload: z.record(z.string(), z.unknown()),
  })
  .openapi("WebhookEvent");
const deliverySchema = z.string().regex(/^[\w.:-]{1,100}$/, "1 to 100 of A-Z a-z 0-9 _ . : -");
const publishedSchema = z.union([
  z.object({
    published: z.literal(true),
    event_id: z.int(),
  }),
  z.object({ published: z.literal(false), reason: z.string() }),
]);

type Delivery = {
  type: string;
  device_id?: string | undefined;
  payload: Record<string, unknown>;
  key: string;
};

/** Takes signed events from other programs. Its signature is the only credential. */
export function addWebhook(app: OpenAPIHono<ApiEnv>, deps: ApiDeps, gate: Gate): void {
  const keyOf = createDeliveryKeys(deps.clock);
  app.openAPIRegistry.registerPath(description);
  app.post(path, limitAddress(gate), bodyLimit({ maxSize: maxBytes, onError: tooLarge }), async (c) => {
    const delivery = read(c, new Uint8Array(await c.req.arrayBuffer()), deps, keyOf);
    if ("ignored" in delivery) return c.json({ published: false, reason: delivery.ignored }, 202);
    const { type, device_id, payload, key } = delivery;
    const done = await deps.publish({
      type,
      priority: priorityOf(type, deps),
      payload,
      key,
      ...(device_id !== undefined && { device_id }),
    });
    return c.json({ published: true, ...done }, 202);
  });
}

function read(
  c: Context,
  body: Uint8Array,
  deps: ApiDeps,
  keyOf: DeliveryKeys,
): Delivery | { ignored: string } {
  const secret = deps.webhookSecret;
  if (!secret) throw noSecret();
  const signature = c.req.header("x-labwright-signature");
  if (signature !== undefined) {
    const checked = checkSignature(signature, body, secret, deps.clock.now());
    const given = c.req.header("x-labwright-delivery");
    const name = given === undefined ? undefined : parsed(deliverySchema, given, "X-Labwright-Delivery");
    return { ...parsed(eventSchema, parseJson(body), "event"), key: keyOf(checked, name) };
  }
  const github = c.req.header("x-hub-signature-256");
  if (github === undefined) throw invalid("The request is not signed.");
  const checked = checkGithubSignature(github, body, secret);
  const event = githubEvent(c.req.header("x-github-event") ?? "", parseJson(body));
  // GitHub signs neither a time nor its delivery's name: only by the body can a repetition be told.
  return "ignored" in event ? event : { ...event, key: `webhook:github:${checked}` };
}

type DeliveryKeys = (signature: string, name: string | undefined) => string;

/** A delivery's name is not signed: who sends a signature again under another name gets the first one's key. */
function createDeliveryKeys(clock: Clock): DeliveryKeys {
  const known = new Map<string, { key: string; until: number }>();
  return (signature, name) => {
    const now = clock.now();
    for (const [old, { until }] of known) {
      if (until > now) break;
      known.delete(old);
    }
    const key = known.get(signature)?.key ?? `webhook:${name ?? signature}`;
    if (!known.has(signature)) known.set(signature, { key, until: now + rememberMs });
    return key;
  };
}

/** That of the agents' trigger; the most urgent where several wait for it. */
function priorityOf(type: string, { agents }: ApiDeps): "critical" | "high" | "normal" {
  const waiting = agents.flatMap(({ triggers }) => triggers).filter(({ event }) => event === type);
  const found = (["critical", "high"] as const).find((one) =>
    waiting.some(({ priority }) => priority === one),
  );
  return found ?? "normal";
}

function parsed<T>(schema: z.ZodType<T>, given: unknown, what: string): T {
  const { data, error } = schema.safeParse(given);
  if (error) throw invalidInput(error, what);
  return data;
}

function parseJson(body: Uint8Array): unknown {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
    return value;
  } catch {
    throw new AgentError(
      "INVALID_INPUT",
      "The body is not JSON.",
      "Send `{type, device_id?, payload}` as one JSON object.",
    );
  }
}

function tooLarge(): never {
  throw new AgentError(
    "INPUT_TOO_LARGE",
    `An event has at most ${maxBytes} bytes.`,
    "Send what identifies it, and where the rest is.",
  );
}

const noSecret = (): AgentError =>
  new AgentError(
    "SIGNATURE_INVALID",
    "No secret is set, so that no event from outside can be trusted.",
    "Set the variable that agents.webhook_secret_env names (LABWRIGHT_SECRET_WEBHOOK unless changed) to a long random text, start again, and give the sender the same.",
  );

const description = {
  method: "post" as const,
  path,
  summary: "Publish a signed event",
  description:
    "`X-Labwright-Signature: t=<unix seconds>,v1=<hex hmac-sha256 of `<t>.<body>`>`, at most five minutes old. With `X-Labwright-Delivery` a delivery that is sent again is published once. GitHub's webhooks are taken as they are (`X-Hub-Signature-256`): a workflow_run or check_suite that failed becomes `webhook.ci_failure`.",
  request: {
    headers: z.object({
      "x-labwright-signature": z.string().optional(),
      "x-labwright-delivery": deliverySchema.optional(),
    }),
    body: { required: true, content: json(eventSchema) },
  },
  responses: {
    202: { description: "Published, or not and why.", content: json(publishedSchema) },
    ...failures,
  },
};
