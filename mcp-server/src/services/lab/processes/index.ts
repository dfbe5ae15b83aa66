import { readLogs } from "./logs.ts";
import { listParts } from "./parts.ts";
import type { ProcessDependencies, ProcessService } from "./types.ts";

export type { LogPage, LogQuery, PartState, ProcessDependencies, ProcessService, Serving } from "./types.ts";

/** What our own processes do and what they said. Changes nothing. */
export function createProcesses(deps: ProcessDependencies): ProcessService {
  return { list: () => listParts(deps), logs: (query, context) => readLogs(query, deps, context) };
}
