import { existsSync } from "node:fs";
import { chmod, mkdtemp, open, readdir, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { ToolError } from "../../../errors.ts";
import { refused, type ToolReply } from "./calls.ts";

const mostBodyBytes = 4_000_000;
const mostConnections = 16;

const callSchema = z.strictObject({
  tool: z.string().min(1).max(128),
  arguments: z.record(z.string(), z.unknown()).default({}),
});
type Call = (
  tool: string,
  args: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
) => Promise<ToolReply>;

/** A script's Unix socket: `POST /call {tool, arguments}`, answered as REST does. Closing ends and awaits calls under way. */
export async function openChannel(path: string, call: Call): Promise<{ close(): Promise<void> }> {
  const over = new AbortController();
  const underWay = new Set<Promise<void>>();
  const server = createServer((request, response) => {
    const answered = answer(request, response, call, over.signal).catch(() => void response.destroy());
    underWay.add(answered);
    void answered.finally(() => underWay.delete(answered));
  });
  server.maxConnections = mostConnections;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
  // The script is another user; the folder around the socket is ours alone.
  await chmod(path, 0o666);
  return {
    async close() {
      over.abort();
      await Promise.all(underWay);
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  call: Call,
  over: AbortSignal,
): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const asked = await read(request);
  const reply =
    "error" in asked
      ? refused(asked.error)
      : await call(asked.tool, asked.arguments, AbortSignal.any([gone.signal, over]));
  const body = reply.ok
    ? { success: true, result: reply.structured }
    : { success: false, error: reply.error };
  const status = reply.ok ? 200 : reply.error.http_status;
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

async function read(request: IncomingMessage): Promise<z.output<typeof callSchema> | { error: ToolError }> {
  const hint = "Use a client of the folder that LABWRIGHT_CLIENT is in.";
  const invalid = (message: string) => ({ error: new ToolError("INVALID_INPUT", message, hint) });
  if (request.method !== "POST" || request.url !== "/call")
    return invalid(`There is no ${request.method} ${request.url}, only POST /call.`);
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) {
    text += String(chunk);
    if (text.length > mostBodyBytes)
      return { error: new ToolError("INPUT_TOO_LARGE", "A call is at most 4 MB.", "Send less at a time.") };
  }
  try {
    return callSchema.parse(JSON.parse(text));
  } catch {
    return invalid('A call is JSON: {"tool": name, "arguments": {...}}.');
  }
}

const mostResultBytes = 64_000;
const begin = "labwright-script-";
let leftoversGone: Promise<unknown> | undefined;

/** Names in a folder that are `begin`, a process's id and more, of processes that are gone. Ask before this process makes one. */
export async function leftIn(folder: string, begin: string): Promise<string[]> {
  if (process.platform !== "linux") return [];
  const isGone = (pid: number) => pid === process.pid || (pid > 0 && !existsSync(`/proc/${pid}`));
  const idIn = (name: string) => Number.parseInt(name.slice(begin.length), 10);
  return (await readdir(folder)).filter((name) => name.startsWith(begin) && isGone(idIn(name)));
}

/** Folders of runs whose server was killed. */
async function removeLeftovers(): Promise<void> {
  const left = await leftIn(tmpdir(), begin);
  // Another user's cannot be removed, and need not be.
  await Promise.allSettled(left.map((name) => rm(join(tmpdir(), name), { recursive: true })));
}

/** The server's folder for one run, where the socket and the result lie; only the two are shown to the script. */
export async function openRunFolder() {
  leftoversGone ??= removeLeftovers();
  await leftoversGone;
  const folder = await mkdtemp(join(tmpdir(), `${begin}${process.pid}-`));
  const result = join(folder, "result.json");
  await writeFile(result, "");
  await chmod(result, 0o666);
  return {
    folder,
    socket: join(folder, "socket"),
    result,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
export type RunFolder = Awaited<ReturnType<typeof openRunFolder>>;

/** What the program wrote as its result. Bounded, since the program decides how much it is. */
export async function readResult({ result }: RunFolder, mostBytes = mostResultBytes): Promise<string> {
  const handle = await open(result);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(mostBytes), 0, mostBytes, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await handle.close();
  }
}
