import { ToolError } from "../../../errors.ts";
import { type ApiDependencies, Apis, type Imported, type ImportRequest, type ListRequest } from "./apis.ts";
import { type ApiReply, type ExecuteApiRequest, executeRequest } from "./execute.ts";
import type { SendPorts } from "./requests/send.ts";
import type { SpecAnswer, SpecQuestion } from "./spec/readSpec.ts";
import { createWorkerThread, isOutOfMemory } from "./workerThread.ts";

export type ApiService = Pick<Apis, "find" | "list" | "operation"> & {
  /** Throws INVALID_INPUT with every problem of a document that cannot be used; then nothing has changed. */
  importSpec(request: ImportRequest, signal: AbortSignal): Promise<Imported>;
  execute(request: ExecuteApiRequest, signal: AbortSignal): Promise<ApiReply>;
  close(): Promise<void>;
};

const timeoutMs = 60_000;
const resourceLimits = { maxOldGenerationSizeMb: 768, maxYoungGenerationSizeMb: 64, stackSizeMb: 4 };

/** Descriptions of APIs and single requests to them. Documents are read in a thread with limits of time and memory. */
export function createApis(
  deps: Omit<ApiDependencies, "readSpec"> & SendPorts & { specWorkerFile?: URL | undefined },
): ApiService {
  const thread = createWorkerThread<SpecQuestion, SpecAnswer>({
    ...{ name: "specWorker", file: deps.specWorkerFile, timeoutMs, resourceLimits, tooSlow, endedBy },
  });
  const apis = new Apis({ ...deps, readSpec: thread.ask });
  return {
    find: (ref) => apis.find(ref),
    list: (request) => apis.list(request),
    operation: (api, ref) => apis.operation(api, ref),
    importSpec: (request, signal) => apis.importSpec(request, signal),
    execute: (request, signal) => executeRequest(request, signal, { apis, ports: deps }),
    close: thread.close,
  };
}

const hint = "Import a smaller document, or a part of the API.";

const tooSlow = () =>
  new ToolError("EXECUTION_TIMEOUT", `The document was not read within ${timeoutMs / 1_000} s.`, hint);

const endedBy = (error: unknown) =>
  new ToolError(
    "OUT_OF_MEMORY",
    isOutOfMemory(error)
      ? "Reading the document needed too much memory."
      : `Reading the document was ended${error instanceof Error ? `: ${error.message}` : ""}.`,
    hint,
  );

export type { ListRequest };
