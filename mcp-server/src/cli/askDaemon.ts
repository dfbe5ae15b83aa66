import { z } from "zod";
import { requestDaemon } from "../server/daemonFile.ts";
import { connectDaemon } from "./daemon.ts";
import type { DaemonOptions } from "./options.ts";
import type { Terminal } from "./terminal.ts";

const refusedSchema = z.object({
  error: z.object({ message: z.string(), hint: z.string().default("") }),
});

/** One request to the REST interface. Undefined when it was refused, which is written to stderr. */
export async function askDaemon<Reply>(
  options: DaemonOptions,
  terminal: Terminal,
  request: { command: string; method?: "GET" | "DELETE"; path: string },
  schema: z.ZodType<Reply>,
): Promise<Reply | undefined> {
  const { command, method = "GET", path } = request;
  const client = `cli/${process.pid}`;
  const attached = await connectDaemon(options, terminal, { command, client });
  try {
    const { signal } = terminal;
    const response = await requestDaemon(attached, path, { method, client, signal });
    const body: unknown = await response.json();
    if (response.ok) return schema.parse(body);
    const { message, hint } = refusedSchema.parse(body).error;
    terminal.err(`${message} ${hint}\n`);
    return undefined;
  } finally {
    attached.close();
  }
}
