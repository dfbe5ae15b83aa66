import type { ActivitySource } from "../../ports.ts";
import { endsWithin } from "../../waiting/deadlines.ts";
import { type ConsoleEntry, consoleLine, readConsole } from "../activity/consoleLines.ts";
import { isFailed, requestLine } from "../activity/requestLines.ts";
import type { SeenRequest } from "../activity/traffic.ts";
import type { DrivenSession } from "../browser/session.ts";

const MOST = 30;
const MOST_BODIES = 5;
const CONSOLE_MS = 500;

/** What pages logged and requested around a step that failed. */
export const createActivity = (session: DrivenSession): ActivitySource => ({
  async recent(ms) {
    if (!session.isAlive()) return { console: [], requests: [] };
    const from = Date.now() - ms;
    const { traffic, mocks } = session.live;
    let lines: ConsoleEntry[] = [];
    const reading = readConsole(session.pages(), traffic).then((entries) => {
      lines = entries.filter(({ at }) => at >= from);
    });
    const seen = worst(
      traffic.requests.filter((one) => (one.ms === undefined ? isAwaited(one) : one.at + one.ms >= from)),
      rankOfRequest,
    );
    const withBodies = new Set(seen.filter((one) => rankOfRequest(one) < 2).slice(-MOST_BODIES));
    const requests = await Promise.all(seen.map((one) => requestLine(one, mocks, withBodies.has(one))));
    await endsWithin(reading, CONSOLE_MS);
    return { console: worst(lines, rankOfLine).map(consoleLine), requests };
  },
});

/** The latest of the lowest ranks, in their order. */
function worst<T>(all: readonly T[], rankOf: (one: T) => number): T[] {
  const kept = new Set(
    [...all]
      .reverse()
      .sort((a, b) => rankOf(a) - rankOf(b))
      .slice(0, MOST),
  );
  return all.filter((one) => kept.has(one));
}

const rankOfLine = ({ level }: ConsoleEntry): number =>
  level === "exception" || level === "error" ? 0 : level === "warning" ? 1 : 2;

function rankOfRequest(seen: SeenRequest): number {
  if (isFailed(seen)) return 0;
  const { request } = seen;
  const isWrite = !/^(GET|HEAD|OPTIONS)$/.test(request.method());
  if (isWrite) return 1;
  return /^(fetch|xhr|document)$/.test(request.resourceType()) ? 2 : 3;
}

/** A page may wait for it still, whenever it began; streams stay open as long as the page. */
const isAwaited = ({ request }: SeenRequest): boolean =>
  !/^(eventsource|websocket|media|ping|beacon)$/.test(request.resourceType());
