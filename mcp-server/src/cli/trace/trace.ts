import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { closeSync, createReadStream, openSync, readdirSync, readSync, statSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { basename, dirname, extname, join, relative, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { ToolError } from "../../errors.ts";
import { fileFailure } from "../../fileFailure.ts";
import { type ExitCode, exitCodes, type Terminal } from "../terminal.ts";

const contentTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".ttf": "font/ttf",
  ".webmanifest": "application/manifest+json",
};

/** The viewer loads nothing from elsewhere: a trace holds what pages of strangers said. */
const policy = [
  "default-src 'self' data: blob:",
  "script-src 'self' 'unsafe-inline'",
  "style-src 'self' 'unsafe-inline' data: blob:",
  "frame-ancestors 'self'",
  "base-uri 'self'",
  "form-action 'none'",
].join("; ");

/** What each file that is asked for is: those of the viewer, and the one trace. */
type Served = ReadonlyMap<string, { path: string; type: string }>;

/**
 * `labwright trace FILE`: shows a trace in Playwright's own viewer, from a server on this machine that knows nothing else, until
 * Ctrl-C. A free port of its own makes it another origin than the daemon. Throws INVALID_INPUT for a file that is not a trace.
 */
export async function showTrace(
  { file, port = 0 }: { file: string; port?: number | undefined },
  { cwd, signal, out }: Pick<Terminal, "cwd" | "signal" | "out">,
): Promise<ExitCode> {
  const path = resolve(cwd, file);
  refuseOthers(path);
  const files = servedFiles(path);
  // Other programs and pages of this machine cannot guess it.
  const base = `/${randomBytes(16).toString("base64url")}/`;
  const server = createServer((request, response) => {
    answer(request, response, { base, files }).catch(() => response.destroy());
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EADDRINUSE") throw error;
    throw refused(`The port ${port} is taken.`, "Leave --port out for a free one.");
  });
  const address = server.address();
  const own = typeof address === "object" ? address?.port : undefined;
  out(`http://127.0.0.1:${own}${base}index.html?trace=trace.zip\n`);
  out(`Open this address in a browser to see ${basename(path)}. Ctrl-C ends it.\n`);
  if (!signal.aborted) await once(signal, "abort");
  server.close();
  server.closeAllConnections();
  return exitCodes.interrupted;
}

const refused = (message: string, hint: string) => new ToolError("INVALID_INPUT", message, hint);

/** A trace is a ZIP file. */
function refuseOthers(path: string): void {
  const hint = "Name a trace, such as labwright run --trace on-failure keeps and its verdict names.";
  const head = Buffer.alloc(2);
  try {
    if (statSync(path).isDirectory()) throw refused(`${path} is a folder; expected a file.`, hint);
    const fd = openSync(path, "r");
    readSync(fd, head);
    closeSync(fd);
  } catch (error) {
    if (error instanceof ToolError) throw error;
    throw refused(fileFailure(error, path)?.message ?? String(error), hint);
  }
  if (head.toString("latin1") !== "PK") throw refused(`${path} is not a trace: it is not a ZIP file.`, hint);
}

function servedFiles(trace: string): Served {
  const root = dirname(createRequire(import.meta.url).resolve("playwright-core/package.json"));
  const viewer = join(root, "lib/vite/traceViewer");
  const found = readdirSync(viewer, { withFileTypes: true, recursive: true }).filter((one) => one.isFile());
  const files = found.map(({ parentPath, name }) => {
    const path = join(parentPath, name);
    const type = contentTypes[extname(name)] ?? "application/octet-stream";
    return [relative(viewer, path).replaceAll("\\", "/"), { path, type }] as const;
  });
  return new Map([...files, ["trace.zip", { path: trace, type: "application/zip" }]]);
}

async function answer(
  { method, headers, url = "" }: IncomingMessage,
  response: ServerResponse,
  { base, files }: { base: string; files: Served },
): Promise<void> {
  const { pathname } = new URL(url, "http://127.0.0.1");
  // Another name of this machine may be one that a stranger's page made up.
  const isOwnHost = /^127\.0\.0\.1:\d+$/.test(headers.host ?? "");
  const file = isOwnHost && pathname.startsWith(base) ? files.get(pathname.slice(base.length)) : undefined;
  if (file === undefined) return void response.writeHead(404).end();
  if (method !== "GET" && method !== "HEAD") return void response.writeHead(405).end();
  const { size } = statSync(file.path);
  response.writeHead(200, {
    ...{ "content-type": file.type, "content-length": size, "cache-control": "no-store" },
    ...{ "content-security-policy": policy, "x-content-type-options": "nosniff" },
    ...{ "referrer-policy": "no-referrer", "cross-origin-resource-policy": "same-origin" },
  });
  if (method === "HEAD") return void response.end();
  await pipeline(createReadStream(file.path), response);
}
