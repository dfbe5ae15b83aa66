import { AgentError } from "../errors.ts";
import type { TaskRunner, TaskRunnerDeps } from "./task.ts";

/** Tasks in words: planned, run, verified on evidence, and replanned at most twice. */
export const createTaskRunner = (_deps: TaskRunnerDeps): TaskRunner => ({
  async run() {
    throw new AgentError("INTERNAL", "Tasks cannot be run yet.", "Use the chat.");
  },
});
