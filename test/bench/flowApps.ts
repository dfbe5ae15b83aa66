import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { dirname, extname, join, normalize } from "node:path";
import { startNodeRed } from "./nodeRed.ts";
import { freePort, type StartedApp, startApp } from "./startedApp.ts";

type Place = { root: string; scratch: string };

const folderOf = (root: string, name: string): string =>
  dirname(createRequire(join(root, "test", "package.json")).resolve(`${name}/package.json`));

const contentTypes: Readonly<Record<string, string>> = {
  ...{ ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css" },
  ...{ ".json": "application/json", ".svg": "image/svg+xml", ".wasm": "application/wasm" },
};

/** The files of a folder on a free loopback port. */
async function serveFolder(folder: string): Promise<StartedApp> {
  const server = createServer(async (request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname));
    const file = join(folder, path.endsWith("/") ? `${path}index.html` : path);
    const body = await readFile(file).catch(() => undefined);
    response.writeHead(body === undefined ? 404 : 200, {
      "content-type": contentTypes[extname(file)] ?? "application/octet-stream",
    });
    response.end(body);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The folder has no port.");
  return {
    url: `http://127.0.0.1:${address.port}/`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** A wiki of its own with nothing in it, as `tiddlywiki --init server` makes it. */
async function startTiddlywiki({ root, scratch }: Place): Promise<StartedApp> {
  const wiki = await mkdtemp(join(scratch, "wiki-"));
  const edition = join(folderOf(root, "tiddlywiki"), "editions", "server");
  await cp(join(edition, "tiddlywiki.info"), join(wiki, "tiddlywiki.info"));
  const port = await freePort();
  return startApp(`http://127.0.0.1:${port}/`, [
    join(folderOf(root, "tiddlywiki"), "tiddlywiki.js"),
    ...[wiki, "--listen", `port=${port}`, "host=127.0.0.1"],
  ]);
}

/** The Inspector with one server in its list: `@playwright/mcp`, which others wrote, too. */
async function startInspector({ root, scratch }: Place): Promise<StartedApp> {
  const home = await mkdtemp(join(scratch, "inspector-"));
  const catalog = join(home, "catalog.json");
  const mcp = join(folderOf(root, "@playwright/mcp"), "cli.js");
  const servers = { mcpServers: { playwright: { command: process.execPath, args: [mcp, "--headless"] } } };
  await mkdir(home, { recursive: true });
  await writeFile(catalog, JSON.stringify(servers));
  const [port, sandbox, origin] = [await freePort(), await freePort(), await freePort()];
  const launcher = join(folderOf(root, "@modelcontextprotocol/inspector"), "clients", "launcher", "build");
  return startApp(`http://127.0.0.1:${port}/`, [join(launcher, "index.js"), "--web", "--catalog", catalog], {
    cwd: home,
    env: {
      ...{ HOME: home, MCP_STORAGE_DIR: home, HOST: "127.0.0.1", CLIENT_PORT: String(port) },
      ...{ MCP_SANDBOX_PORT: String(sandbox), MCP_APP_ORIGIN_PORT: String(origin) },
      ...{ MCP_AUTO_OPEN_ENABLED: "false", DANGEROUSLY_OMIT_AUTH: "true" },
    },
  });
}

const starters: Readonly<Record<string, (place: Place) => Promise<StartedApp>>> = {
  todomvc: ({ root }) => serveFolder(folderOf(root, "todomvc")),
  "node-red": ({ root, scratch }) => startNodeRed(root, scratch),
  inspector: startInspector,
  tiddlywiki: startTiddlywiki,
  speedscope: ({ root }) => serveFolder(join(folderOf(root, "speedscope"), "dist", "release")),
};

/** Five web apps that others wrote, each without a trace of an earlier run, by the name of its folder in `test/flows`. */
export async function startFlowApps(place: Place): Promise<Map<string, StartedApp>> {
  const started = new Map<string, StartedApp>();
  try {
    for (const [name, start] of Object.entries(starters)) started.set(name, await start(place));
  } catch (error) {
    for (const { close } of started.values()) await close();
    throw error;
  }
  return started;
}
