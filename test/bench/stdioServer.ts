import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { z } from "zod";

const messageSchema = z.object({
  id: z.number().optional(),
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string() }).optional(),
});
const resultSchema = z.object({
  content: z.array(z.object({ type: z.string(), text: z.string().optional() })).default([]),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
  isError: z.boolean().optional(),
});

const toolsSchema = z.object({
  tools: z.array(
    z.object({ name: z.string(), description: z.string().default(""), inputSchema: z.unknown() }),
  ),
});
export type ListedTool = z.output<typeof toolsSchema>["tools"][number];

/** `text` is every text block, joined by newlines. */
export type Reply = {
  text: string;
  structured: Readonly<Record<string, unknown>> | undefined;
  isError: boolean;
};
export type Launch = {
  args: readonly string[];
  env?: Readonly<Record<string, string | undefined>>;
  cwd: string;
};

/**
 * One MCP server over stdio, spoken to in plain JSON lines: the same few lines of client for every side, so that no SDK's
 * own time is in a figure. `startedAt` is `performance.now()` just before the spawn.
 */
export type StdioServer = {
  pid: number;
  startedAt: number;
  initialize(): Promise<void>;
  listTools(): Promise<ListedTool[]>;
  /** Throws when the reply is an error, unless `mayFail`. */
  call(name: string, args: Readonly<Record<string, unknown>>, options?: { mayFail: boolean }): Promise<Reply>;
  end(): Promise<void>;
};

type Waiting = { resolve(result: unknown): void; reject(error: Error): void };

const answerLimitMs = 60_000;
const endLimitMs = 10_000;

type Channel = {
  send(message: object): void;
  request(method: string, params: object): Promise<unknown>;
  exited: Promise<void>;
};

function openChannel(child: ChildProcessWithoutNullStreams): Channel {
  const waiting = new Map<number, Waiting>();
  const errors: string[] = [];
  createInterface({ input: child.stderr }).on("line", (line) => errors.splice(0, errors.length - 20, line));
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = messageSchema.parse(JSON.parse(line));
    const open = message.id === undefined ? undefined : waiting.get(message.id);
    if (message.id === undefined || !open) return;
    waiting.delete(message.id);
    if (message.error) open.reject(new Error(message.error.message));
    else open.resolve(message.result);
  });
  const exited = once(child, "exit").then(() => {
    for (const open of waiting.values()) open.reject(new Error(`the server ended:\n${errors.join("\n")}`));
    waiting.clear();
  });
  child.stdin.on("error", () => undefined);
  const send = (message: object): void => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  };
  let id = 0;
  const request = (method: string, params: object): Promise<unknown> => {
    const own = ++id;
    const answer = new Promise<unknown>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`${method} got no answer in ${answerLimitMs} ms`)),
        answerLimitMs,
      );
      waiting.set(own, {
        resolve: (result) => {
          clearTimeout(timer);
          resolve(result);
        },
        reject: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      });
    });
    send({ id: own, method, params });
    return answer;
  };
  return { send, request, exited };
}

export function startServer(launch: Launch): StdioServer {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...launch.args], {
    stdio: ["pipe", "pipe", "pipe"],
    cwd: launch.cwd,
    env: { ...process.env, ...launch.env },
  });
  const channel = openChannel(child);
  const { request, send } = channel;
  return {
    pid: child.pid ?? 0,
    startedAt,
    async initialize() {
      const clientInfo = { name: "labwright-bench", version: "1" };
      await request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
      send({ method: "notifications/initialized" });
    },
    async listTools() {
      return toolsSchema.parse(await request("tools/list", {})).tools;
    },
    async call(name, args, options) {
      const result = resultSchema.parse(await request("tools/call", { name, arguments: args }));
      const text = result.content
        .flatMap((block) => (block.text === undefined ? [] : [block.text]))
        .join("\n");
      const reply = { text, structured: result.structuredContent, isError: result.isError === true };
      if (reply.isError && options?.mayFail !== true)
        throw new Error(`${name} failed: ${text.slice(0, 600)}`);
      return reply;
    },
    async end() {
      child.stdin.end();
      const timer = setTimeout(() => child.kill("SIGKILL"), endLimitMs);
      await channel.exited;
      clearTimeout(timer);
    },
  };
}
