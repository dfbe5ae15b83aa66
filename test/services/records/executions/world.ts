import { beforeAll, beforeEach } from "vitest";
import type { Step } from "#mcp-server/domain/index.ts";
import type {
  CallContext,
  DeviceService,
  EventInput,
  ExecutionService,
  Run,
  RunSpec,
} from "#mcp-server/services/index.ts";
import { createExecutions } from "#mcp-server/services/records/executions/index.ts";
import { createNotices } from "#mcp-server/services/records/notices.ts";
import { eventRows, type Storage } from "#mcp-server/storage/index.ts";
import { type ExecutionRows, executionRows } from "#mcp-server/storage/rows/executionRows.ts";
import { callContext } from "../../../fixtures/callContext.ts";
import { describeEachDatabase } from "../../../fixtures/database.ts";
import { fakeClock } from "../../../fixtures/fakeClock.ts";
import { simulatedDevices, testSecrets } from "../../../fixtures/simulated.ts";

/** Tests of executions over each database, in a world that is new for each test. */
export function describeExecutions(name: string, tests: (t: World) => void): void {
  describeEachDatabase(name, (open) => {
    const world = new World();
    beforeAll(async () => world.place(await open()));
    beforeEach(() => world.begin());
    tests(world);
  });
}

/** Executions of one simulated device on a clock that the test moves, with the faults that a test asks for. */
class World {
  clock = fakeClock();
  /** Aborted, it takes the lease away from whatever runs. */
  lost = new AbortController();
  events: EventInput[] = [];
  faults: unknown[] = [];
  /** How often a device was given back. */
  released = 0;
  eventFault: Error | undefined;
  rowFault: Error | undefined;
  private opened: { storage: Storage; rows: ExecutionRows } | undefined;
  private created: ExecutionService | undefined;

  get rows(): ExecutionRows {
    if (!this.opened) throw new Error("There is no database yet.");
    return this.opened.rows;
  }

  get executions(): ExecutionService {
    if (!this.created) throw new Error("The test has not begun.");
    return this.created;
  }

  place(storage: Storage): void {
    this.opened = { storage, rows: executionRows(storage.db) };
  }

  begin(): void {
    this.clock = fakeClock();
    this.lost = new AbortController();
    this.events = [];
    this.faults = [];
    this.released = 0;
    this.eventFault = undefined;
    this.rowFault = undefined;
    this.created = createExecutions({
      notices: createNotices(),
      rows: this.failingRows(),
      devices: this.leasable(simulatedDevices()),
      events: {
        append: async (tx, event) => {
          if (this.eventFault) throw this.eventFault;
          await eventRows(tx).append(tx, { ...event, at: new Date(this.clock.now()).toISOString() });
          this.events.push(event);
        },
      },
      secrets: testSecrets({ PIN: "4711-secret" }),
      clock: this.clock,
      host: "lab",
      onError: (error) => this.faults.push(error),
    });
  }

  private failingRows(): ExecutionRows {
    const { rows } = this;
    return {
      ...rows,
      appendStep: async (id, one) => {
        if (this.rowFault) throw this.rowFault;
        return rows.appendStep(id, one);
      },
      start: async (id) => {
        if (this.rowFault) throw this.rowFault;
        return rows.start(id);
      },
      insert: async (one) => {
        if (this.rowFault) throw this.rowFault;
        return rows.insert(one);
      },
    };
  }

  /** The same devices, whose lease a test can take away. */
  private leasable(devices: DeviceService): DeviceService {
    return {
      ...devices,
      acquire: async (ref, context, options) => {
        const grant = await devices.acquire(ref, context, options);
        const done = () => {
          this.released += 1;
          grant.done();
        };
        return { ...grant, signal: AbortSignal.any([context.signal, this.lost.signal]), done };
      },
    };
  }

  /** Runs `body` for a caller that does not wait. */
  start(
    body: Parameters<ExecutionService["run"]>[2],
    more: Partial<RunSpec> = {},
    context: CallContext = callContext(),
  ) {
    return this.executions.run(spec({ wait_ms: 0, ...more }), context, body);
  }

  /** The reply of a call that waits no time on a clock that the test moves. */
  async now<T>(reply: Promise<T>): Promise<T> {
    let settled = false;
    const mark = () => {
      settled = true;
    };
    reply.then(mark, mark);
    await until(
      () => this.clock.advance(0),
      () => settled,
    );
    return reply;
  }
}

export const spec = (more: Partial<RunSpec> = {}): RunSpec => ({
  kind: "testcase",
  name: "t",
  device: {},
  input: { given: true },
  wait_ms: 60_000,
  timeout_ms: 600_000,
  ...more,
});

export const step = (label: string, more: Partial<Step> = {}): Omit<Step, "index"> => ({
  path: label,
  kind: "set",
  label,
  status: "passed",
  started_at: "2026-01-01T00:00:00.000Z",
  duration_ms: 1,
  input: null,
  output: null,
  artifacts: [],
  ...more,
});

export const passing = async (run: Run) => {
  await run.step(step("one"));
  run.verified(2);
  return { status: "passed" as const, outputs: { a: 1 }, output: { answer: 42 } };
};

/** A promise with its ends outside. */
export function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

/** Asks until the answer is right, for half a minute of real time. */
export async function until<T>(ask: () => Promise<T>, right: (answer: T) => unknown): Promise<T> {
  for (const end = Date.now() + 30_000; Date.now() < end; ) {
    const answer = await ask();
    if (right(answer)) return answer;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error("What was waited for did not come.");
}
