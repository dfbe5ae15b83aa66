import { settingsSchema } from "@labwright/agent-client/settings";
import { z } from "zod";
import { isLoopback } from "./places.ts";

const variable = z.string().regex(/^[A-Za-z_]\w*$/);
const moved = (to: string) =>
  z.never({ error: `is not here any more: the agents are on the server's port; set ${to}` }).optional();

const jwtSchema = z
  .strictObject({
    secret_env: variable.optional().describe("Variable of the environment with the secret of HS256."),
    jwks_url: z
      .url()
      .refine(
        (url) => !URL.canParse(url) || url.startsWith("https:") || isLoopback(new URL(url).hostname),
        "must begin with https: keys over plain HTTP could be replaced on their way",
      )
      .optional(),
    issuer: z.string().min(1).optional(),
    audience: z.string().min(1).optional(),
  })
  .refine(
    ({ secret_env, jwks_url }) => secret_env !== undefined || jwks_url !== undefined,
    "needs secret_env or jwks_url to check a JWT with",
  )
  .refine(
    ({ jwks_url, issuer, audience }) =>
      jwks_url === undefined || (issuer !== undefined && audience !== undefined),
    "needs issuer and audience as well as jwks_url: otherwise a token for another program would be accepted",
  );

const apiSchema = z.strictObject({
  keys: z
    .array(z.strictObject({ owner: z.string().min(1).max(100), sha256: z.string().regex(/^[\da-f]{64}$/) }))
    .max(100)
    .default([])
    .describe("Who may talk to the agents, in addition to the owner of the daemon's token."),
  jwt: jwtSchema.optional(),
  requests_per_minute: z.int().min(1).max(100_000).default(120).describe("Of each owner."),
  host: moved("server.host"),
  port: moved("server.port"),
  allowed_hosts: moved("server.allowed_hosts"),
  allowed_origins: moved("server.allowed_origins"),
});

/** `agents:` of labwright.yaml: what a client of the models must know, and what only the server does. */
export const agentsSchema = settingsSchema
  .extend({
    api: apiSchema.prefault({}),
    webhook_secret_env: variable
      .default("LABWRIGHT_SECRET_WEBHOOK")
      .describe("Variable of the environment with the secret that webhooks are signed with."),
  })
  .describe("Models, limits, and the agents that work by themselves.");
export type AgentSettings = z.output<typeof agentsSchema>;
