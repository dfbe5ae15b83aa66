import type { Controller } from "@labwright/controllers";
import type { OpenDevice } from "./ports.ts";

/** Who uses a device: a lease, or the client that took it. */
export type Holder = { session_id?: string | undefined; principal: string; client: string };

export const callerOf = ({ principal, client }: Pick<Holder, "principal" | "client">): string =>
  `${principal} ${client}`;

/** Gives what a device did by itself to the step in which it did it, and to nobody else. One line for each notice. */
export type Notices = {
  /**
   * A run begins. Returns what came since the last run of the same holder; what is left of another holder is dropped.
   * Whoever begins must {@link end}.
   */
  begin(device: OpenDevice, holder: Holder): string[];
  /** What came since the last reading. For the run under way only. */
  take(device: OpenDevice): string[];
  /** A run ends. Unless `keep`, what is left of it is dropped. */
  end(device: OpenDevice, options: { keep: boolean }): void;
  /** For a caller that only looks: what is left, when the caller is the holder and no run is under way; else nothing. */
  tell(device: OpenDevice, caller: Holder): string[];
};

type Use = { holder: Holder | undefined; runs: number };

export function createNotices(): Notices {
  const uses = new Map<string, Use>();
  const told = new WeakMap<Controller, number>();

  function read(controller: Controller): string[] {
    const found = controller.noticesAfter(told.get(controller) ?? 0);
    const last = found.at(-1);
    if (last) told.set(controller, last.seq);
    return found.map(({ kind, text }) => (kind === "restarted" ? `BROWSER_RESTARTED: ${text}` : text));
  }

  function useOf(device: OpenDevice): Use {
    const use = uses.get(device.id) ?? { holder: undefined, runs: 0 };
    uses.set(device.id, use);
    return use;
  }

  const take = (device: OpenDevice) => [...device.controllers.values()].flatMap(read);
  return {
    take,
    begin(device, holder) {
      const use = useOf(device);
      const isSame = isHolder(use, holder);
      use.holder = holder;
      use.runs += 1;
      const left = take(device);
      return isSame ? left : [];
    },
    end(device, { keep }) {
      useOf(device).runs -= 1;
      if (!keep) take(device);
    },
    tell(device, caller) {
      const use = useOf(device);
      return use.runs === 0 && isHolder(use, caller) ? take(device) : [];
    },
  };
}

function isHolder({ holder }: Use, caller: Holder): boolean {
  if (holder === undefined) return false;
  if (caller.session_id !== undefined && caller.session_id === holder.session_id) return true;
  return caller.principal === holder.principal && caller.client === holder.client;
}
