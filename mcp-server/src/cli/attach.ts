/** What another program of this house needs to be a client of the daemon: found or started, as the command line does it. */

export { dataDirectory } from "../config/places.ts";
export type { Attached } from "../server/bridge/link.ts";
export { type DaemonFile, daemonHeaders, daemonUrl } from "../server/daemonFile.ts";
export { connectDaemon, fetchArtifact } from "./daemon.ts";
export { type ExitCode, exitCodes, failureText, processTerminal, type Terminal } from "./terminal.ts";
