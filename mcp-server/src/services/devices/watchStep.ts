import { DeviceError, type Health } from "@labwright/controllers";
import { ToolError } from "../../errors.ts";
import type { OpenDevice } from "../ports.ts";
import { waitedInVain } from "../records/verdicts.ts";

/** How often the delay of the event loop is measured while a step runs. */
const beatMs = 100;
/** How long a device may take to report its health: a page that is silent for less may only be drawing. */
const patienceMs = { least: 500, most: 1_000 };

/** Watches the event loop, the app's servers and the device while one step runs. */
export type StepWatch = {
  /** The cause of a failed step: `error`, APP_UNREACHABLE or ENVIRONMENT_SLOW. `deadlineMs` is what the step was given. */
  judge(error: unknown, deadlineMs: number): Promise<unknown>;
  end(): void;
};

export function watchStep(device: OpenDevice): StepWatch {
  const loop = watchLoop();
  const open = device.controllers.filter(device.isOpen);
  const watches = open.flatMap(({ health }) => (health ? [health.watch()] : []));
  return {
    async judge(error, deadlineMs) {
      const code = codeOf(error);
      if (code === undefined || deadlineMs <= 0 || !waitedInVain(code)) return error;
      const patience = Math.min(patienceMs.most, Math.max(patienceMs.least, deadlineMs / 2));
      const seen = await Promise.all(watches.map((watch) => watch.ask(patience)));
      return findCause(error, { loopMs: loop.longest(), deadlineMs, ...mergeHealth(seen) });
    },
    end() {
      loop.end();
      for (const watch of watches) watch.end();
    },
  };
}

type Evidence = Health & { loopMs: number; deadlineMs: number };

function findCause(error: unknown, evidence: Evidence): unknown {
  const said = error instanceof Error ? error.message : String(error);
  const { unreachable, loopMs, blankMs = 0, deadlineMs } = evidence;
  if (unreachable) {
    const { url, reason } = unreachable;
    return new DeviceError(
      "APP_UNREACHABLE",
      `${url} was not reached: ${reason}. Check that the app runs. ${said}`,
    );
  }
  if (Math.max(loopMs, blankMs) >= deadlineMs / 2) {
    return new ToolError(
      "ENVIRONMENT_SLOW",
      `The machine was too slow to judge the app: Labwright stalled for ${loopMs} ms and a blank page took ${blankMs} ms to answer, out of ${deadlineMs} ms. ${said}`,
      "Run it again on a machine with less to do.",
    );
  }
  return error;
}

function mergeHealth(seen: readonly Health[]): Health {
  const all: Health = {};
  for (const one of seen) Object.assign(all, one);
  return all;
}

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;

/** Measures how long the event loop was blocked. */
function watchLoop(): { longest(): number; end(): void } {
  let last = performance.now();
  let longest = 0;
  const beat = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last - beatMs);
    last = now;
  };
  const timer = setInterval(beat, beatMs);
  timer.unref();
  return {
    longest() {
      beat();
      return Math.round(longest);
    },
    end: () => clearInterval(timer),
  };
}
