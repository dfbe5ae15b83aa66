import { existsSync } from "node:fs";
import { chmod, constants, mkdir, mkdtemp, open, readdir, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { ToolError } from "../../../errors.ts";
import { refused, type ToolReply } from "./calls.ts";

const mostBodyBytes = 1_000_000;
const mostConnections = 16;
/** A megabyte of brackets takes the parser ten times as long as other text, and what reads its result may recurse. */
const mostDepth = 100;

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
  // The kernel takes 107 bytes as a socket's path, and a data directory may be deep: its folder is named by a descriptor.
  const folder = process.platform === "linux" ? await open(dirname(path)) : undefined;
  const place = folder ? `/proc/self/fd/${folder.fd}/${basename(path)}` : path;
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(place, resolve);
    });
  } catch (error) {
    await folder?.close();
    throw error;
  }
  // The script is another user; the folder around the socket is ours alone.
  await chmod(path, 0o666);
  return {
    async close() {
      over.abort();
      await Promise.all(underWay);
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      await folder?.close();
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
      return { error: new ToolError("INPUT_TOO_LARGE", "A call is at most 1 MB.", "Send less at a time.") };
  }
  if (isDeep(text)) return invalid(`A call nests at most ${mostDepth} levels.`);
  try {
    return callSchema.parse(JSON.parse(text));
  } catch {
    return invalid('A call is JSON: {"tool": name, "arguments": {...}}.');
  }
}

const mostResultBytes = 64_000;
const [quote, backslash] = [34, 92];
/** What opens and closes: [ { ] }. */
const steps = new Map([
  [91, 1],
  [123, 1],
  [93, -1],
  [125, -1],
]);

/** Says whether more brackets of JSON are open than a call may nest; those in strings are text. */
function isDeep(json: string): boolean {
  let open = 0;
  let isText = false;
  for (let at = 0; at < json.length && open <= mostDepth; at += 1) {
    const code = json.charCodeAt(at);
    if (code === quote) isText = !isText;
    else if (!isText) open += steps.get(code) ?? 0;
    else if (code === backslash) at += 1;
  }
  return open > mostDepth;
}

/** By the folder that runs' folders lie in: when what killed servers left there is gone. */
const leftoversGone = new Map<string, Promise<unknown>>();

/** Names in a folder that are `begin`, a process's id and more, of processes that are gone. Ask before this process makes one. */
export async function leftIn(folder: string, begin: string): Promise<string[]> {
  if (process.platform !== "linux") return [];
  const isGone = (pid: number) => pid === process.pid || (pid > 0 && !existsSync(`/proc/${pid}`));
  const idIn = (name: string) => Number.parseInt(name.slice(begin.length), 10);
  return (await readdir(folder)).filter((name) => name.startsWith(begin) && isGone(idIn(name)));
}

/** Makes the folder around the runs' folders, and removes those of servers that were killed. */
async function prepare(around: string): Promise<void> {
  await mkdir(around, { recursive: true, mode: 0o700 });
  const left = await leftIn(around, "");
  await Promise.allSettled(left.map((name) => rm(join(around, name), { recursive: true })));
}

/**
 * The server's folder for one run, where the socket and the result lie; only the two are shown to the script. It lies in
 * `around`, a folder of the data directory: other users of this machine could make names in a temporary folder before us.
 */
export async function openRunFolder(around: string) {
  const isPrepared = leftoversGone.get(around) ?? prepare(around);
  leftoversGone.set(around, isPrepared);
  await isPrepared;
  const folder = await mkdtemp(join(around, `${process.pid}-`));
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

/**
 * What the program wrote as its result. Bounded, since the program decides how much it is; without a sandbox it also decides
 * what the name stands for, so a link is not followed and a pipe not waited for.
 */
export async function readResult({ result }: RunFolder, mostBytes = mostResultBytes): Promise<string> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(result, flags).catch(() => undefined);
  try {
    if (!handle || !(await handle.stat()).isFile())
      return "LABWRIGHT_RESULT is not the file that the script was given";
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(mostBytes), 0, mostBytes, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await handle?.close();
  }
}
