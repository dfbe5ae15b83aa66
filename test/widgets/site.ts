import { readFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import { extname, join } from "node:path";
import { build } from "esbuild";
import { closeServer, listenOnLoopback } from "../fixtures/loopback.ts";

/** The widgets' pages on a free loopback port. */
export type WidgetSite = { url(name: string): string; close(): Promise<void> };

const types: Readonly<Record<string, string>> = {
  ".js": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".svg": "image/svg+xml",
};
const pictures = { ".png": "dataurl", ".webp": "dataurl", ".svg": "dataurl", ".gif": "dataurl" } as const;

type Built = ReadonlyMap<string, string>;

/** The page, its script and its style, bundled: a browser finds no npm package by its name. */
async function buildPage(folder: string, name: string): Promise<Built> {
  const html = await readFile(join(folder, `${name}.html`), "utf8");
  const made = await build({
    entryPoints: [join(folder, `${name}.js`)],
    bundle: true,
    write: false,
    format: "esm",
    outfile: join(folder, "bundle", `${name}.js`),
    define: { "process.env.NODE_ENV": '"production"' },
    loader: pictures,
    logLevel: "error",
  });
  const textOf = (end: string): string => made.outputFiles.find(({ path }) => path.endsWith(end))?.text ?? "";
  const head = `<meta charset="utf-8"><title>${name}</title><link rel="stylesheet" href="${name}.css">`;
  return new Map([
    [`/${name}/`, `<!doctype html><html lang="en"><head>${head}</head><body>${html}</body></html>`],
    [`/${name}/${name}.js`, textOf(".js")],
    [`/${name}/${name}.css`, textOf(".css")],
  ]);
}

function send(response: ServerResponse, path: string, body: string | undefined): void {
  if (body === undefined) {
    response.writeHead(404).end();
    return;
  }
  const type = types[extname(path)] ?? "text/html";
  response.writeHead(200, { "content-type": `${type}; charset=utf-8` }).end(body);
}

/** `root` is the project's folder; pages are bundled when they are first asked for. */
export async function serveWidgets(root: string): Promise<WidgetSite> {
  const folder = join(root, "test", "widgets", "pages");
  const built = new Map<string, Promise<Built>>();
  const bodyOf = async (path: string): Promise<string | undefined> => {
    if (path === "/emoji/data.json") return readFile(join(folder, "emoji.json"), "utf8");
    if (path.startsWith("/npm/")) return readFile(join(root, "node_modules", path.slice(5)), "utf8");
    const name = path.split("/")[1] ?? "";
    if (name === "" || name.includes(".")) return undefined;
    const page = built.get(name) ?? buildPage(folder, name);
    built.set(name, page);
    return (await page).get(path);
  };
  const server = createServer((request, response) => {
    request.resume();
    const path = new URL(request.url ?? "/", "http://localhost").pathname;
    if (path === "/favicon.ico") {
      response.writeHead(204).end();
      return;
    }
    bodyOf(path).then(
      (body) => send(response, path, body),
      (error) => response.writeHead(500).end(String(error)),
    );
  });
  const port = await listenOnLoopback(server);
  return { url: (name) => `http://127.0.0.1:${port}/${name}/`, close: () => closeServer(server) };
}
