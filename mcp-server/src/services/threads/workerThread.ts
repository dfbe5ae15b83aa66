import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ResourceLimits } from "node:worker_threads";
import { createWorkerThread as createThread } from "@labwright/controllers";
import { ToolError } from "../../errors.ts";
import { packageFolder } from "../../storage/engine/packageFolder.ts";

export type WorkerSettings<Question> = {
  /** Of the build: `dist/<name>.js`. */
  name: string;
  /** In place of the built file. */
  file?: URL | undefined;
  timeoutMs: number;
  resourceLimits: ResourceLimits;
  /** Megabytes that a question is expected to need, where some need more than `maxOldGenerationSizeMb`. */
  neededMb?(question: Question): number;
  /** What is done, for errors: "The check by JSON Schema". */
  work: string;
  /** How to ask for less. */
  hint: string;
};

/** Work that a caller shapes, in a thread with limits of time and memory for each question. */
export type WorkerThread<Question, Answer> = {
  /** One at a time, so that the time limit is for this one. Throws EXECUTION_TIMEOUT and OUT_OF_MEMORY. */
  ask(question: Question): Promise<Answer>;
  close(): Promise<void>;
};

export function createWorkerThread<Question, Answer>({
  name,
  file,
  timeoutMs,
  resourceLimits,
  neededMb,
  work,
  hint,
}: WorkerSettings<Question>): WorkerThread<Question, Answer> {
  const thread = createThread<Question, Answer>({
    code: file ?? builtFile(name),
    resourceLimits,
    tooSlow: () => new ToolError("EXECUTION_TIMEOUT", `${work} took longer than ${timeoutMs} ms.`, hint),
    endedBy(cause, isMemory) {
      const why = cause instanceof Error ? `: ${cause.message}` : "";
      const message = isMemory ? `${work} needed too much memory.` : `${work} was ended${why}.`;
      return new ToolError("OUT_OF_MEMORY", message, hint);
    },
  });
  const usualMb = resourceLimits.maxOldGenerationSizeMb;
  return {
    ask(question) {
      const heapMb = usualMb && neededMb && heapOf(usualMb, neededMb(question));
      return thread.ask(question, { timeoutMs, ...(heapMb && { heapMb }) });
    },
    close: thread.close,
  };
}

/** The usual heap, doubled until it is enough: in few steps, since a thread starts anew for another heap. */
function heapOf(usualMb: number, neededMb: number): number {
  let heapMb = usualMb;
  while (heapMb < neededMb) heapMb *= 2;
  return heapMb;
}

/** The code of a thread in the build. */
export const builtFile = (name: string): URL => pathToFileURL(join(packageFolder(), "dist", `${name}.js`));
