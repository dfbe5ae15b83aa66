/** What another program of this house needs to be a client of the daemon: found or started, as the command line does it. */
export { dataDirectory } from "../config/places.ts";
export { daemonHeaders, daemonUrl } from "../server/daemonFile.ts";
export { connectDaemon } from "./daemon.ts";
