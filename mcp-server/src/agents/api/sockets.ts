import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { Server } from "socket.io";
import type { ErrorBody } from "../../api/errors.ts";
import type { AgentSocket, AgentSocketServer } from "./agentSocket.ts";
import { type ApiDeps, bodyLimitBytes } from "./deps.ts";
import { toldError } from "./errors.ts";
import type { Gate } from "./gate.ts";
import { serveSocket } from "./serveSocket.ts";

/** Takes what comes to `/socket.io`, once Host and Origin were checked. */
export type Sockets = {
  request(incoming: IncomingMessage, outgoing: ServerResponse): void;
  upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void;
  count(): number;
  /** Ends every connection. */
  close(): Promise<void>;
};

/** How long a connection may say nothing of who it is. */
const connectTimeoutMs = 10_000;

/** Socket.IO, namespace `/agent`. */
export function createSockets(deps: ApiDeps, gate: Gate): Sockets {
  const origin = [...deps.allowedOrigins];
  const io: AgentSocketServer = new Server({
    serveClient: false,
    maxHttpBufferSize: bodyLimitBytes,
    connectTimeout: connectTimeoutMs,
    ...(origin.length > 0 && { cors: { origin } }),
  });
  const errorOf = (error: unknown) => toldError(error, deps);
  io.use((_socket, next) => next(new Error("Connect to the namespace /agent.")));
  const agents = io.of("/agent");
  agents.use((socket, next) => {
    admit(socket, gate).then(
      () => next(),
      (error: unknown) => next(handshakeError(errorOf(error))),
    );
  });
  agents.on("connection", (socket) => serveSocket(socket, { ...deps, limit: gate.limit, errorOf }));
  // Socket.IO wants a server of Node's; this one never listens, and is handed what the daemon's took.
  const server = createServer();
  io.attach(server);
  return {
    request: (incoming, outgoing) => void server.emit("request", incoming, outgoing),
    upgrade: (incoming, socket, head) => void server.emit("upgrade", incoming, socket, head),
    count: () => io.engine.clientsCount,
    close: () => io.close(),
  };
}

async function admit(socket: AgentSocket, { identify, limit }: Gate): Promise<void> {
  const token: unknown = socket.handshake.auth.token;
  const principal = await identify(typeof token === "string" ? token : undefined);
  await limit(`owner:${principal.owner}`);
  socket.data.principal = principal;
}

/** What a client finds as `error.data` in its `connect_error`. */
const handshakeError = (error: ErrorBody) => Object.assign(new Error(error.message), { data: error });
