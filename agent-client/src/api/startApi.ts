import { createServer, type Server } from "node:http";
import type { Socket } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { AgentError } from "../errors.ts";
import type { Settings } from "../settings.ts";
import { type Access, checkExposure, hostAndOrigin } from "./access.ts";
import { createAgentApp } from "./createAgentApp.ts";
import type { ApiDeps } from "./deps.ts";
import { createGate } from "./gate.ts";
import { serveSockets } from "./sockets.ts";

/** Clients keep a connection for less than this. */
const keepAliveMs = 65_000;
const closeMs = 1_000;

/** REST and Socket.IO on one port. `close` ends what is open; runs are the conversations' own. Throws CONFIG_INVALID. */
export async function startApi(
  deps: ApiDeps,
): Promise<{ url: string; port: number; close(): Promise<void> }> {
  checkExposure(deps.settings);
  let { port } = deps.settings;
  const access: Access = { ...deps.settings, port: () => port };
  const gate = createGate(deps);
  const app = createAgentApp(deps, { gate, before: [hostAndOrigin(access)] });
  const server = createServer({ keepAliveTimeout: keepAliveMs }, getRequestListener(app.fetch));
  const open = connectionsOf(server);
  const io = serveSockets(server, deps, gate, access);
  port = await listen(server, deps.settings);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    async close() {
      const closed = io.close();
      server.closeAllConnections();
      // A client that is gone without a word never answers the end of its connection.
      const timer = setTimeout(() => {
        for (const socket of open) socket.destroy();
      }, closeMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

function connectionsOf(server: Server): ReadonlySet<Socket> {
  const open = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  return open;
}

function listen(server: Server, { host, port }: Settings["api"]): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => reject(cannotListen(host, port, error)));
    server.listen(port, host.replace(/^\[|\]$/g, ""), () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}

const cannotListen = (host: string, port: number, error: Error): AgentError =>
  new AgentError(
    "CONFIG_INVALID",
    `Cannot listen on ${host}:${port}: ${error.message}`,
    "Another program may hold the port: set agents.api.port to another one, or 0 for any.",
  );
