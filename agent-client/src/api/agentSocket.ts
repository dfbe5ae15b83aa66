import type { DefaultEventsMap, Server, Socket } from "socket.io";
import type { AgentEvent } from "../events.ts";
import type { Principal } from "./credentials.ts";
import type { ErrorBody } from "./errors.ts";

type ServerEvents = {
  agent_event: (event: AgentEvent) => void;
  error: (error: ErrorBody["error"]) => void;
};
/** What comes in is checked where it is taken. */
type ClientEvents = Record<string, (...given: unknown[]) => void>;
type SocketData = { principal?: Principal };

export type AgentSocket = Socket<ClientEvents, ServerEvents, DefaultEventsMap, SocketData>;
export type AgentSocketServer = Server<ClientEvents, ServerEvents, DefaultEventsMap, SocketData>;
