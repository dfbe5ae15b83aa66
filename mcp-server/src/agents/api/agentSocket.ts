import type { AgentEvent } from "@labwright/agent-client";
import type { DefaultEventsMap, Server, Socket } from "socket.io";
import type { ErrorBody } from "../../api/errors.ts";
import type { Principal } from "./credentials.ts";

type ServerEvents = {
  agent_event: (event: AgentEvent) => void;
  error: (error: ErrorBody) => void;
};
/** What comes in is checked where it is taken. */
type ClientEvents = Record<string, (...given: unknown[]) => void>;
type SocketData = { principal?: Principal };

export type AgentSocket = Socket<ClientEvents, ServerEvents, DefaultEventsMap, SocketData>;
export type AgentSocketServer = Server<ClientEvents, ServerEvents, DefaultEventsMap, SocketData>;
