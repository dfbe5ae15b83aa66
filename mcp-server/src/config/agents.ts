import { readFileSync } from "node:fs";
import { settingsSchema, taskCapabilities } from "@labwright/agent-client/settings";
import { z } from "zod";
import { isLoopback } from "./places.ts";

const variable = z.string().regex(/^[A-Za-z_]\w*$/);
const moved = (to: string) =>
  z.never({ error: `is not here any more: the agents are on the server's port; set ${to}` }).optional();

/** A refinement also runs on what is not a URL, which has its own message. */
const isSafeOnItsWay = (url: string) =>
  !URL.canParse(url) || new URL(url).protocol === "https:" || isLoopback(new URL(url).hostname);
const isBareOrigin = (url: string) => {
  if (!URL.canParse(url)) return true;
  const { origin, href } = new URL(url);
  return href === `${origin}/`;
};

const jwtSchema = z
  .strictObject({
    secret_env: variable.optional().describe("Variable of the environment with the secret of HS256."),
    jwks_url: z
      .url()
      .refine(isSafeOnItsWay, "must begin with https: keys over plain HTTP could be replaced on their way")
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

/** The owner of a JWT is its `sub` after this, so that no issuer can name the owner of a key. */
export const jwtOwnerPrefix = "jwt:";
const ownerSchema = z
  .string()
  .min(1)
  .max(100)
  .refine(
    (owner) => owner !== "local" && !owner.startsWith(jwtOwnerPrefix),
    `must not be "local", which is the owner of the daemon's token, nor begin with ${jwtOwnerPrefix}`,
  );

const apiSchema = z.strictObject({
  keys: z
    .array(z.strictObject({ owner: ownerSchema, sha256: z.string().regex(/^[\da-f]{64}$/) }))
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

const tokenSchema = z.union(
  [z.strictObject({ env: variable }), z.strictObject({ file: z.string().min(1).max(4_000) })],
  "must be {env: VARIABLE} or {file: path}",
);

const remoteSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, "must be lower-case letters, digits and inner hyphens"),
  url: z
    .url({ protocol: /^https?$/, error: "must be the http or https address of a Labwright server" })
    .refine(isBareOrigin, "must have neither a path nor credentials: https://host:port")
    .refine(
      isSafeOnItsWay,
      "must begin with https beyond this machine: over plain HTTP the token could be read on its way",
    )
    .describe("Its address; its server.allowed_hosts must have the host."),
  token: tokenSchema.describe("Where the remote's token is: in a variable or in a file."),
  capabilities: z
    .array(z.enum(taskCapabilities))
    .max(50)
    .default([])
    .describe("Tasks that need one of these run there, though this server has tools for them."),
});

/** The token of a remote, read now. Undefined where it has no value. */
export function remoteToken(
  source: z.output<typeof tokenSchema>,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  if ("env" in source) return env[source.env] || undefined;
  try {
    return readFileSync(source.file, "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}

/** `agents:` of labwright.yaml: what a client of the models must know, and what only the server does. */
export const agentsSchema = settingsSchema
  .extend({
    api: apiSchema.prefault({}),
    remotes: z
      .array(remoteSchema)
      .max(10)
      .refine(
        (all) => new Set(all.map(({ name }) => name)).size === all.length,
        "two remotes have the same name",
      )
      .default([])
      .describe("Other Labwright servers that tasks may run on, in the order in which they are asked."),
    webhook_secret_env: variable
      .default("LABWRIGHT_SECRET_WEBHOOK")
      .describe("Variable of the environment with the secret that webhooks are signed with."),
  })
  .describe("Models, limits, and the agents that work by themselves.");
export type AgentSettings = z.output<typeof agentsSchema>;
