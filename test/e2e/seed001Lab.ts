import { mkdtemp, rm } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { daemonHeaders, daemonUrl } from "#mcp-server/server/daemonFile.ts";
import { startDaemonProcess } from "../fixtures/daemonProcess.ts";
import { serve } from "../fixtures/loopback.ts";
import { openPrograms } from "../fixtures/program.ts";

const config = `
devices: [{ name: chrome, model: web }]
environments:
  staging: { pii: [email] }
  live: { production: true }
`;

const total = (type: string) => ({
  description: "The orders",
  content: { "application/json": { schema: { type: "object", properties: { total: { type } } } } },
});
/** Its total is a number, not the text that it promises. */
const openapi = {
  ...{ openapi: "3.0.3", info: { title: "Shop", version: "1" }, servers: [{ url: "/" }] },
  paths: { "/api/orders": { get: { operationId: "orders", responses: { 200: total("string") } } } },
};
function answerApi(path: string, isSignedIn: boolean, response: ServerResponse): void {
  if (path === "/api/openapi.json") return void response.end(JSON.stringify(openapi));
  const status = path === "/api/me" && !isSignedIn ? 401 : 200;
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(path === "/api/orders" ? { total: 3 } : { name: "Ada" }));
}

/** Every second sign-up works; /slow never answers. */
async function startShop() {
  const traffic = { signUps: 0, writes: [] as string[] };
  const { url, close } = await serve((request, response) => {
    const { url: path = "/", method, headers } = request;
    if (method !== "GET") traffic.writes.push(`${method} ${path}`);
    if (path === "/slow") return;
    if (path.startsWith("/api/")) return answerApi(path, headers.authorization === "Bearer good", response);
    const works = path !== "/signup" || ++traffic.signUps % 2 === 0;
    const onclick = `document.querySelector('p').textContent='${works ? "Done" : "Sorry"}'`;
    response.setHeader("content-type", "text/html");
    response.end(`<title>Shop</title><h1>Welcome</h1><button onclick="${onclick}">Send</button><p></p>`);
  });
  return {
    ...{ url, close, traffic },
    /** The steps of a test case. */
    open: (path: string) => `open ${url}${path}`,
    request: (path: string) => [{ api_request: { url: `${url}${path}`, checks: [{ status: 200 }] } }],
  };
}

const envelope = z.looseObject({
  message_type: z.string(),
  in_reply_to: z.string().optional(),
  payload: z.looseObject({}),
});

/** A shop, and the built daemon with a browser and the app `shop`. */
export async function startSeed001() {
  const shop = await startShop();
  const folder = await mkdtemp(join(tmpdir(), "labwright-seed001-"));
  const daemon = await startDaemonProcess({ dataDir: join(folder, "data"), config });
  const programs = openPrograms(daemon.dataDir);
  const { error } = await daemon.call("create_userinterface", { name: "shop", models: ["web"] });
  if (error) throw new Error(error.message);
  return {
    ...{ shop, folder, programs },
    /** Newest first. */
    async runsOf(name: string) {
      const { result } = await daemon.call("get_execution_results", { name, max_tokens: 500 });
      return z.object({ executions: z.array(z.looseObject({ status: z.string() })) }).parse(result)
        .executions;
    },
    async send(message: unknown, signal?: AbortSignal) {
      const file = daemon.file();
      const response = await fetch(daemonUrl(file, "/api/v1/messages"), {
        method: "POST",
        headers: { ...daemonHeaders(file, "test/1"), "content-type": "application/json" },
        body: JSON.stringify(message),
        ...(signal && { signal }),
      });
      return { status: response.status, body: z.looseObject({}).parse(await response.json()) };
    },
    async stored(correlation_id: unknown) {
      const file = daemon.file();
      const url = daemonUrl(file, `/api/v1/messages?correlation_id=${correlation_id}`);
      const response = await fetch(url, { headers: daemonHeaders(file, "test/1") });
      const { messages } = z
        .object({ messages: z.array(z.object({ message: envelope })) })
        .parse(await response.json());
      return messages.map(({ message }) => message);
    },
    async close() {
      await programs.end();
      daemon.signal("SIGTERM");
      await daemon.ended;
      await shop.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
