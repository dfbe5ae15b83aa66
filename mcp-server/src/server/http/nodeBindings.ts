import type { HttpBindings } from "@hono/node-server";

/** What Node's HTTP server gave with a request; undefined where none did, as in a test. */
export const nodeBindings = (env: unknown): HttpBindings | undefined => (isNode(env) ? env : undefined);

const isNode = (env: unknown): env is HttpBindings =>
  typeof env === "object" && env !== null && "incoming" in env;
