import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import { dataDirectory } from "../../config/places.ts";
import { findRunningDaemon, isAlive, stopDaemon } from "../../server/bridge/findDaemon.ts";
import { requestDaemon } from "../../server/daemonFile.ts";
import type { DaemonOptions } from "../options.ts";
import { type ExitCode, exitCodes, type Terminal } from "../terminal.ts";

const healthSchema = z.object({ status: z.string(), services: z.record(z.string(), z.string()) });

/** `labwright status`: exit code 0 when a daemon answers for the data directory, 1 when none does. */
export async function runStatus(
  options: DaemonOptions & { json?: boolean | undefined },
  terminal: Terminal,
): Promise<ExitCode> {
  const dataDir = dataDirectory(terminal.env, options.dataDir).path;
  const attached = await findRunningDaemon(dataDir, `status/${process.pid}`);
  if (attached === undefined) {
    terminal.out(
      options.json
        ? `${JSON.stringify({ running: false, data_dir: dataDir })}\n`
        : `No daemon is running for ${dataDir}. Commands start one when needed; labwright serve keeps it running.\n`,
    );
    return exitCodes.failed;
  }
  try {
    const { file } = attached;
    const response = await requestDaemon(attached, "/api/v1/health", {
      client: "status",
      signal: AbortSignal.any([terminal.signal, AbortSignal.timeout(10_000)]),
    });
    const health = healthSchema.parse(await response.json());
    const state = {
      running: true,
      status: health.status,
      pid: file.pid,
      port: file.port,
      started_at: file.started_at,
      version: file.version,
      build: file.build.hash,
      config: file.config.path ?? "none",
      data_dir: dataDir,
      services: health.services,
    };
    terminal.out(options.json ? `${JSON.stringify(state)}\n` : lines(state));
    return exitCodes.passed;
  } finally {
    attached.close();
  }
}

function lines({
  services,
  ...state
}: { services: Record<string, string> } & Record<string, unknown>): string {
  const rows = [...Object.entries(state), ...Object.entries(services)].filter(([name]) => name !== "running");
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${String(value)}\n`).join("");
}

/** Before it ends, a daemon cancels its runs and closes its devices. */
const stopMs = 30_000;

/** `labwright stop`: returns when the daemon is gone. Exit code 1: it is busy and `ifIdle` was asked, or did not end. */
export async function runStop(
  options: DaemonOptions & { ifIdle?: boolean | undefined },
  terminal: Terminal,
): Promise<ExitCode> {
  const dataDir = dataDirectory(terminal.env, options.dataDir).path;
  const client = `stop/${process.pid}`;
  const attached = await findRunningDaemon(dataDir, client);
  if (attached === undefined) {
    terminal.out(`No daemon is running for ${dataDir}.\n`);
    return exitCodes.passed;
  }
  const { pid } = attached.file;
  const request = { reason: "labwright stop", ifIdle: options.ifIdle ?? false, client };
  const isLeaving = await stopDaemon(attached, request).finally(() => attached.close());
  if (!isLeaving) {
    terminal.err(`The daemon (pid ${pid}) is busy. labwright stop without --if-idle cancels what it runs.\n`);
    return exitCodes.failed;
  }
  const deadline = performance.now() + stopMs;
  while (isAlive(pid) && performance.now() < deadline && !terminal.signal.aborted) await pause(20);
  if (isAlive(pid)) {
    terminal.err(
      `The daemon (pid ${pid}) did not end within ${stopMs} ms. Its log says why: labwright logs\n`,
    );
    return exitCodes.failed;
  }
  terminal.out(`Stopped the daemon (pid ${pid}).\n`);
  return exitCodes.passed;
}
