import { once } from "node:events";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { dirname, extname, join, sep } from "node:path";
import { ToolError } from "../../errors.ts";

/**
 * One implementation of the app. `breaks` names the test cases that fail on it and why, as found by hand in the browser
 * and in its source.
 */
export type Implementation = {
  name: string;
  path: string;
  breaks: Readonly<Record<string, string>>;
};

const sound = (name: string): Implementation => ({ name, path: `/examples/${name}/index.html`, breaks: {} });

export const implementations: readonly Implementation[] = [
  sound("vanillajs"),
  sound("react"),
  sound("backbone"),
  {
    ...sound("serenadejs"),
    breaks: { "Escape cancels an edit": "it never listens for Escape, so the edit stays open" },
  },
];

const contentTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".xml": "application/xml",
  ".svg": "image/svg+xml",
  ".png": "image/png",
};

function packagePath(): string {
  try {
    return dirname(createRequire(import.meta.url).resolve("todomvc/package.json"));
  } catch {
    throw new ToolError(
      "INTERNAL",
      "The npm package todomvc, the demo's app, is not installed.",
      "Run `npm run demo` in a clone of the project: it installs what is missing.",
    );
  }
}

async function answer(root: string, url: string, response: ServerResponse): Promise<void> {
  const path = join(root, decodeURIComponent(new URL(url, "http://localhost").pathname));
  const file = path.startsWith(root + sep) ? await stat(path).catch(() => undefined) : undefined;
  if (!file?.isFile()) {
    response.writeHead(404).end();
    return;
  }
  const type = contentTypes[extname(path)] ?? "application/octet-stream";
  response.writeHead(200, { "content-type": type, "content-length": file.size, "cache-control": "no-cache" });
  createReadStream(path)
    .on("error", () => response.destroy())
    .pipe(response);
}

/** The package's files on a free loopback port; `url` takes a path that begins with a slash. */
export async function serveTodomvc(): Promise<{ url(path: string): string; close(): Promise<void> }> {
  const root = packagePath();
  const server = createServer((request, response) => {
    answer(root, request.url ?? "/", response).catch(() => {
      response.destroy();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: (path) => `http://127.0.0.1:${port}${path}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
