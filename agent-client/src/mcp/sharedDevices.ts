import { z } from "zod";
import type { Toolbox, ToolCall } from "../ports.ts";

const taken = z.object({ session_id: z.string(), device: z.string() });
const released = z.object({ released: z.string() });
const listed = z.object({
  hosts: z.array(z.object({ devices: z.array(z.object({ id: z.string(), state: z.string() })) })),
});
const counted = z.object({ counts: z.record(z.string(), z.number()) });

export type SharedDevices = {
  /** The same tools. A handle of a lease that was given back stands for the one that came after it. */
  toolbox: Toolbox;
  /** Gives back every device that this client holds. False where one is kept, since something still runs on it. */
  giveBack(): Promise<boolean>;
  /** Takes again what was given back of what `take_control` took. Returns a line for each device that cannot be had. */
  takeAgain(): Promise<string[]>;
};

/** Follows which devices a client took, so that others can use them while it has nothing to do. */
export function createSharedDevices(toolbox: Toolbox): SharedDevices {
  /** The device of each handle that was ever given, and the latest handle of each device. */
  const deviceOf = new Map<string, string>();
  const handleOf = new Map<string, string>();
  const given = new Set<string>();

  const ask = (name: string, input: ToolCall["input"]) =>
    toolbox.call({ name, input }, { signal: AbortSignal.timeout(60_000) });

  function note({ name }: ToolCall, structured: unknown): void {
    const lease = name === "take_control" ? taken.safeParse(structured).data : undefined;
    if (lease) {
      deviceOf.set(lease.session_id, lease.device);
      handleOf.set(lease.device, lease.session_id);
    }
    const end = name === "release_control" ? released.safeParse(structured).data : undefined;
    if (end) handleOf.delete(end.released);
  }

  function withLatestHandle(use: ToolCall): ToolCall {
    const { session_id } = use.input;
    const device = typeof session_id === "string" ? deviceOf.get(session_id) : undefined;
    const latest = device === undefined ? undefined : handleOf.get(device);
    return latest === undefined ? use : { ...use, input: { ...use.input, session_id: latest } };
  }

  async function isAtWork(device: string): Promise<boolean> {
    const { structured } = await ask("get_execution_results", { device, max_tokens: 50 });
    const counts = counted.safeParse(structured).data?.counts;
    // To give it back would end what runs there, so that one who does not know keeps it.
    return counts === undefined || (counts.running ?? 0) + (counts.queued ?? 0) > 0;
  }

  return {
    toolbox: {
      specs: () => toolbox.specs(),
      async call(use, options) {
        const result = await toolbox.call(withLatestHandle(use), options);
        note(use, result.structured);
        return result;
      },
    },
    async giveBack() {
      const hosts = listed.safeParse((await ask("list_hosts", {})).structured).data?.hosts ?? [];
      const own = hosts.flatMap(({ devices }) => devices).filter(({ state }) => state.startsWith("yours"));
      let isAll = true;
      for (const { id } of own) {
        if (await isAtWork(id)) isAll = false;
        else if (!(await ask("release_control", { device_id: id })).isError && handleOf.has(id))
          given.add(id);
      }
      return isAll;
    },
    async takeAgain() {
      const missing: string[] = [];
      for (const device of given) {
        const use = { name: "take_control", input: { device_id: device } };
        const { isError, structured, parts } = await ask(use.name, use.input);
        if (!isError) note(use, structured);
        else missing.push(parts.flatMap((part) => (part.type === "text" ? part.text : [])).join(" "));
      }
      given.clear();
      return missing;
    },
  };
}

/** A chat in which nothing is asked for so long gives its devices back. */
const idleMs = 30_000;

/** Gives the devices of a chat back while there is nothing to do. A failure shows at the next message. */
export class IdleDevices {
  private timer: NodeJS.Timeout | undefined;
  private resting: Promise<unknown> = Promise.resolve();

  constructor(private readonly devices: Pick<SharedDevices, "giveBack" | "takeAgain">) {}

  /** The time begins anew. */
  rest(): void {
    this.stop();
    this.timer = setTimeout(() => {
      this.resting = this.devices.giveBack().then(
        (isAll) => isAll || this.rest(),
        () => undefined,
      );
    }, idleMs);
    this.timer.unref();
  }

  /** Returns a line for each device that another client has now. */
  async use(): Promise<string[]> {
    this.stop();
    await this.resting;
    this.stop();
    return this.devices.takeAgain();
  }

  stop(): void {
    clearTimeout(this.timer);
  }
}
