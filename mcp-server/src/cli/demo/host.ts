import { z } from "zod";
import { runStop } from "../commands/control.ts";
import { done } from "../run/connection.ts";
import type { Terminal } from "../terminal.ts";
import { withDaemon } from "../withDaemon.ts";
import type { Verdict } from "./verdicts.ts";

type Arguments = Readonly<Record<string, unknown>>;

/** The daemon of the demo. */
export type Host = {
  /** The structured result, checked. Throws the tool's own error when it failed. */
  call<Output extends z.ZodType>(name: string, args: Arguments, output: Output): Promise<z.output<Output>>;
  /** The bytes of an artifact. */
  read(uri: string): Promise<Uint8Array>;
};

/** Runs the demo on a daemon of its own, which has ended when this resolves. */
export async function withHost<Result>(
  { dataDir, config }: { dataDir: string; config?: string },
  terminal: Terminal,
  run: (host: Host) => Promise<Result>,
): Promise<Result> {
  // The daemon inherits the environment, and the demo's data must not go where this machine's real data is.
  for (const name of ["DATABASE_URL", "LABWRIGHT_PORT", "LABWRIGHT_DATA_DIR"]) delete process.env[name];
  // Its pages are its own.
  process.env.LABWRIGHT_BROWSER_SANDBOX = "optional";
  const options = { dataDir, config, logLevel: undefined };
  const quiet: Terminal = { ...terminal, out: () => undefined, signal: new AbortController().signal };
  try {
    return await withDaemon(options, terminal, { command: "demo" }, ({ call, artifact }) =>
      run({
        call: async (name, args, output) =>
          output.parse(await done(call(name, { ...args }, terminal.signal))),
        read: artifact,
      }),
    );
  } finally {
    await runStop(options, quiet);
  }
}

export const leaseSchema = z.object({ session_id: z.string(), device: z.string(), model: z.string() });
export const runSchema = z.looseObject({
  execution_id: z.string(),
  status: z.string(),
  duration_ms: z.number().default(0),
  reason: z.object({ code: z.string(), message: z.string() }).optional(),
  failed_step: z.looseObject({ label: z.string() }).optional(),
});
export const anything = z.looseObject({});

/** Starts a run with a tool, and waits for its end. */
export async function runToEnd<Output extends z.ZodType<{ execution_id: string; status: string }>>(
  host: Host,
  [tool, args]: [tool: string, args: Arguments],
  output: Output,
): Promise<z.output<Output>> {
  let run = await host.call(tool, args, output);
  while (run.status === "running" || run.status === "queued") {
    const { execution_id } = run;
    run = await host.call("get_execution_status", { execution_id, wait_ms: 45_000 }, output);
  }
  return run;
}

type DemoRun = { session: string; userinterface: string; implementation: string; testcase: string };

/** Runs a test case to its end. */
export async function runTestcase(host: Host, demoRun: DemoRun): Promise<Verdict> {
  const { session, userinterface, implementation, testcase } = demoRun;
  const request = { testcase, userinterface_name: userinterface, session_id: session };
  const run = await runToEnd(host, ["execute_testcase", request], runSchema);
  return {
    implementation,
    testcase,
    executionId: run.execution_id,
    status: run.status,
    durationMs: run.duration_ms,
    found: [run.failed_step?.label, run.reason?.message].filter(Boolean).join(": "),
  };
}
