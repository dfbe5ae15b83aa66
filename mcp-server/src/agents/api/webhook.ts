import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { AgentError } from "@labwright/agent-client";
import type { Context } from "hono";
import { type ApiDeps, basePath, type OutsideEvent } from "./deps.ts";
import { parsed } from "./errors.ts";
import { type ApiEnv, addressOf, type Gate, limitBody } from "./gate.ts";
import { githubEvent } from "./github.ts";
import { failures, json, response } from "./schemas.ts";
import { checkGithubSignature, checkSignature, invalid } from "./signature.ts";

const path = `${basePath}/events`;
const maxBytes = 1024 * 1024;

const eventSchema = z
  .strictObject({
    type: z
      .string()
      .max(100)
      .regex(/^webhook\.[a-z]\w*(\.\w+)*$/, "must be a type such as webhook.ci_failure"),
    id: z
      .string()
      .regex(/^[\w.:-]{1,100}$/, "must be 1 to 100 of A-Z a-z 0-9 _ . : -")
      .optional()
      .describe("An event that is sent again under its id is published once."),
    device_id: z.string().min(1).max(200).optional(),
    payload: z.record(z.string(), z.unknown()),
  })
  .openapi("WebhookEvent");
const publishedSchema = z.object({
  published: z.boolean(),
  event_id: z.int().optional(),
  reason: z.string().optional().describe("Why it was not published."),
});

/** Takes signed events from other programs. Its signature is the only credential. */
export function addWebhook(app: OpenAPIHono<ApiEnv>, deps: ApiDeps, gate: Gate): void {
  app.openAPIRegistry.registerPath(description);
  app.post(path, limitBody(maxBytes), async (c) => {
    await gate.limitAddress(addressOf(c));
    const event = await read(c, deps);
    if ("ignored" in event) return c.json({ published: false, reason: event.ignored }, 202);
    return c.json({ published: true, ...(await deps.publish(event)) }, 202);
  });
}

/** The event of a signed delivery, or why it is none for us. Throws SIGNATURE_INVALID, INVALID_INPUT. */
async function read(c: Context, deps: ApiDeps): Promise<OutsideEvent | { ignored: string }> {
  const secret = deps.webhookSecret;
  if (!secret)
    throw new AgentError(
      "SIGNATURE_INVALID",
      "No secret is set, so that no event from outside can be trusted.",
      "Set the variable that agents.webhook_secret_env names (LABWRIGHT_SECRET_WEBHOOK unless changed) to a long random text, start again, and give the sender the same.",
    );
  const body = new Uint8Array(await c.req.arrayBuffer());
  const ours = c.req.header("x-labwright-signature");
  if (ours !== undefined) {
    const signature = checkSignature(ours, body, secret, deps.clock.now());
    const { id, ...event } = parsed(eventSchema, await jsonOf(c), "event");
    return { ...event, key: `webhook:${id ?? signature}` };
  }
  const github = c.req.header("x-hub-signature-256");
  if (github === undefined) throw invalid("The request is not signed.");
  const signature = checkGithubSignature(github, body, secret);
  const event = githubEvent(c.req.header("x-github-event") ?? "", await jsonOf(c));
  // GitHub signs neither a time nor the delivery's id: only the body shows that a delivery came before.
  return "ignored" in event ? event : { ...event, key: `webhook:github:${signature}` };
}

async function jsonOf(c: Context): Promise<unknown> {
  return c.req.json().catch(() => {
    throw new AgentError(
      "INVALID_INPUT",
      "The body is not JSON.",
      "Send `{type, id?, device_id?, payload}`.",
    );
  });
}

const description = {
  method: "post" as const,
  path,
  summary: "Publish a signed event",
  description:
    "`X-Labwright-Signature: t=<unix seconds>,v1=<hex hmac-sha256 of `<t>.<body>`>`, at most five minutes old. GitHub's webhooks are taken as they are (`X-Hub-Signature-256`): a workflow_run or check_suite that failed becomes `webhook.ci_failure`.",
  request: { body: { required: true, content: json(eventSchema) } },
  responses: { 202: response("Published, or not and why.", publishedSchema), ...failures },
};
