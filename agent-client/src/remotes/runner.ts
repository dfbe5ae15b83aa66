import { within } from "../clock.ts";
import { AgentError } from "../errors.ts";
import { failureIn, textIn } from "../mcp/calls.ts";
import { createTaskRunner } from "../planExecute/runner.ts";
import type { TaskEvent, TaskRequest, TaskResult, TaskRunner, TaskRunnerDeps } from "../planExecute/task.ts";
import { analyzeByRule } from "../planner/analyze.ts";
import type { Toolbox, ToolResult } from "../ports.ts";
import { patientToolbox, withBackoff } from "../recovery.ts";
import { choosePlace, type Facts, factsAt, type Needs } from "./place.ts";
import { openRemote, type Remote } from "./remote.ts";

/** How long a server may take to say what it has. */
const askMs = 10_000;
const mostNamed = 100;

type Deps = TaskRunnerDeps & { remotes: readonly Remote[]; log(text: string): void };
type Connection = ReturnType<typeof openRemote>;

/**
 * Runs each task on this server or on a remote, as a whole. A task on a remote ends with OUTCOME_UNKNOWN when the answer of a
 * call that may write is lost, so that nothing is done twice. `details` of the result say where it ran and why.
 */
export const createPlacedRunner = (deps: Deps): TaskRunner => ({
  run: (request) =>
    deps.remotes.length === 0 ? runHere(request, deps) : new PlacedTask(request, deps).run(),
});

const runHere = (request: TaskRequest, deps: Deps): Promise<TaskResult> => {
  const { emit, toolbox } = withProgress(request, deps.toolbox);
  return createTaskRunner({ ...deps, toolbox }).run({ ...request, ...(emit && { emit }) });
};

class PlacedTask {
  private readonly connections = new Map<Remote, Connection>();

  constructor(
    private readonly request: TaskRequest,
    private readonly deps: Deps,
  ) {}

  async run(): Promise<TaskResult> {
    const { request, deps } = this;
    const { task, userinterface_name: app, device_ids = [] } = request;
    const { capabilities = [], domain } = analyzeByRule(task) ?? {};
    const needs: Needs = { capabilities, devices: device_ids, app };
    try {
      const here = await this.facts(deps.toolbox, needs, []);
      const { remote, reason } = await choosePlace(needs, here, deps.remotes, (one) =>
        this.facts(this.connected(one).toolbox, needs, one.capabilities),
      );
      deps.log(`Task on ${remote?.name ?? "this server"}: ${reason}`);
      const result = await (remote ? this.runAt(remote) : runHere(request, deps));
      const place = {
        reason,
        required_capabilities: capabilities,
        ...(domain !== undefined && { primary_domain: domain }),
        requires_remote_execution: remote !== undefined,
        requires_compilation: capabilities.includes("CODE_GENERATION"),
        requires_persistence: capabilities.some((one) => one === "FILE_WRITE" || one === "FILE_DELETE"),
      };
      return { ...result, details: { ...result.details, place } };
    } finally {
      for (const { close } of this.connections.values()) await close();
    }
  }

  private connected(remote: Remote): Connection {
    const connection = this.connections.get(remote) ?? openRemote(remote);
    this.connections.set(remote, connection);
    return connection;
  }

  private facts(toolbox: Toolbox, needs: Needs, declared: readonly string[]): Promise<Facts> {
    const { clock } = this.deps;
    const late = () =>
      new AgentError(
        "REQUEST_TIMEOUT",
        "A server took too long to say what it has.",
        "Run labwright doctor.",
      );
    return within(askMs, { signal: this.request.signal, clock, late }, (signal) => {
      const patient: Toolbox = {
        ...patientToolbox(toolbox, clock),
        specs: () => withBackoff(toolbox.specs, clock, signal),
      };
      return factsAt(patient, needs, declared, signal);
    });
  }

  private async runAt(remote: Remote): Promise<TaskResult> {
    const { request, deps } = this;
    const lost = new AbortController();
    const found = { executions: new Set<string>(), artifacts: new Set<string>() };
    const { emit, toolbox } = withProgress(request, this.connected(remote).toolbox);
    const watched: Toolbox = {
      specs: toolbox.specs,
      async call(use, options) {
        const result = await toolbox.call(use, options);
        note(result, found);
        const failure = result.isError ? failureIn(use.name, result) : undefined;
        if (failure?.code === "OUTCOME_UNKNOWN")
          lost.abort(new AgentError("OUTCOME_UNKNOWN", failure.message, failure.hint));
        return result;
      },
    };
    const signal = AbortSignal.any([request.signal, lost.signal]);
    const result = await createTaskRunner({ ...deps, toolbox: watched }).run({
      ...request,
      ...{ signal, ...(emit && { emit }) },
    });
    return {
      ...result,
      details: {
        remote: {
          name: remote.name,
          url: remote.url.origin,
          executions: [...found.executions].slice(0, mostNamed),
          artifacts: [...found.artifacts].slice(0, mostNamed),
        },
      },
    };
  }
}

/** The runs that a result is of, and the files that it names: they are the remote's. */
function note(
  { structured, parts }: ToolResult,
  found: { executions: Set<string>; artifacts: Set<string> },
): void {
  if (typeof structured?.execution_id === "string") found.executions.add(structured.execution_id);
  const text = `${textIn(parts)}\n${JSON.stringify(structured ?? {})}`;
  for (const [uri] of text.matchAll(/artifact:\/\/[\w/.-]+/g)) found.artifacts.add(uri);
}

/** What a tool reports while it works comes as the task's last progress with those words. */
function withProgress(
  { emit }: TaskRequest,
  toolbox: Toolbox,
): Pick<TaskRequest, "emit"> & { toolbox: Toolbox } {
  if (!emit) return { toolbox };
  let last: Extract<TaskEvent, { type: "progress" }> | undefined;
  const onProgress = (message: string) => {
    if (last && last.status !== "done") emit({ ...last, message });
  };
  return {
    emit(event) {
      if (event.type === "progress") last = event;
      emit(event);
    },
    toolbox: {
      specs: toolbox.specs,
      call: (use, options) => toolbox.call(use, { onProgress, ...options }),
    },
  };
}
