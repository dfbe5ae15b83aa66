import type { Server as HttpServer, IncomingMessage } from "node:http";
import { Server } from "socket.io";
import { type Access, refusal } from "./access.ts";
import type { AgentSocket, AgentSocketServer } from "./agentSocket.ts";
import { type ApiDeps, bodyLimitBytes } from "./deps.ts";
import { type ErrorBody, errorBody, isExpected, traceIdFrom } from "./errors.ts";
import type { Gate } from "./gate.ts";
import { serveSocket } from "./serveSocket.ts";

/** How long a connection may say nothing of who it is. */
const connectTimeoutMs = 10_000;

/** Socket.IO at its usual `/socket.io`, namespace `/agent`. `close` ends every connection and the server too. */
export function serveSockets(
  server: HttpServer,
  deps: ApiDeps,
  gate: Gate,
  access: Access,
): { close(): Promise<void> } {
  const { allowed_origins: origin } = deps.settings;
  const io: AgentSocketServer = new Server({
    serveClient: false,
    maxHttpBufferSize: bodyLimitBytes,
    connectTimeout: connectTimeoutMs,
    // WebSockets are outside of CORS: a page of anybody may open one.
    allowRequest: (request, callback) => {
      const error = refusalOf(request, access);
      callback(error?.message, error === undefined);
    },
    ...(origin.length > 0 && { cors: { origin } }),
  });
  const errorOf = (error: unknown): ErrorBody["error"] => {
    const trace_id = traceIdFrom(undefined);
    if (!isExpected(error)) deps.fault?.(error, trace_id);
    return errorBody(error, trace_id, new Date(deps.clock.now())).error;
  };
  io.use((_socket, next) => next(new Error("Connect to the namespace /agent.")));
  const agents = io.of("/agent");
  agents.use((socket, next) => {
    admit(socket, gate).then(
      () => next(),
      (error: unknown) => next(handshakeError(errorOf(error))),
    );
  });
  agents.on("connection", (socket) => serveSocket(socket, { ...deps, limit: gate.limit, errorOf }));
  io.attach(server);
  return { close: () => io.close() };
}

const refusalOf = ({ headers }: IncomingMessage, access: Access) =>
  refusal({ host: headers.host, origin: headers.origin }, access);

async function admit(socket: AgentSocket, { identify, limit }: Gate): Promise<void> {
  const token: unknown = socket.handshake.auth.token;
  const principal = await identify(typeof token === "string" ? token : undefined);
  await limit(`owner:${principal.owner}`);
  socket.data.principal = principal;
}

/** What a client finds as `error.data` in its `connect_error`. */
const handshakeError = (error: ErrorBody["error"]) =>
  Object.assign(new Error(error.message), { data: error });
