import { createWorkerThread } from "../../threads/workerThread.ts";
import { type ApiDependencies, Apis } from "./apis.ts";
import { type ApiReply, type ExecuteApiRequest, executeRequest } from "./execute.ts";
import type { SendPorts } from "./requests/send.ts";
import type { SpecAnswer, SpecQuestion } from "./spec/readSpec.ts";

export type ApiService = Pick<Apis, "find" | "list" | "operation" | "importSpec"> & {
  execute(request: ExecuteApiRequest, signal: AbortSignal): Promise<ApiReply>;
  close(): Promise<void>;
};

const resourceLimits = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 };

/** Descriptions of APIs and single requests to them. Documents are read in a thread with limits of time and memory. */
export function createApis(
  deps: Omit<ApiDependencies, "readSpec"> & SendPorts & { specWorkerFile?: URL | undefined },
): ApiService {
  const thread = createWorkerThread<SpecQuestion, SpecAnswer>({
    ...{ name: "specWorker", file: deps.specWorkerFile, timeoutMs: 60_000, resourceLimits },
    ...{ work: "Reading the document", hint: "Import a smaller document, or a part of the API." },
  });
  const apis = new Apis({ ...deps, readSpec: thread.ask });
  return Object.assign(apis, {
    execute: (request: ExecuteApiRequest, signal: AbortSignal) =>
      executeRequest(request, signal, { apis, ports: deps }),
    close: thread.close,
  });
}
