import type { Controller, DeviceNotice } from "@labwright/controllers";
import { consoleNotice, isForRecord } from "../../domain/index.ts";
import type { OpenDevice } from "../ports.ts";

/** Who uses a device: a lease, or the client that took it. */
export type Holder = { session_id?: string | undefined; principal: string; client: string };

export const callerOf = ({ principal, client }: Pick<Holder, "principal" | "client">): string =>
  `${principal} ${client}`;

/** Gives what a device did by itself to the step in which it did it, once. One line for each notice. */
export type Notices = {
  /**
   * A run begins. Returns what came since the last run of the same holder; what is left of another holder is dropped.
   * Whoever begins must {@link end}.
   */
  begin(device: OpenDevice, holder: Holder): string[];
  /** What came since the last reading. For the run under way only. */
  take(device: OpenDevice): string[];
  /** Errors in the app's console since the last reading. They are for the record of the run's step, and not reported to the caller. */
  takeLogged(device: OpenDevice): string[];
  /** A run ends. Unless `keep`, what is left of it is dropped. */
  end(device: OpenDevice, options: { keep: boolean }): void;
  /** For a caller that only looks: what is left, when the caller is the holder and no run is under way; else nothing. */
  read(device: OpenDevice, caller: Holder): string[];
};

/** `background`: what the holder's own pages did while a run drove another one. */
type Use = { holder: Holder | undefined; runs: number; background: string[]; logged: string[] };

const backgroundKept = 20;
const loggedKept = 100;

export function createNotices(): Notices {
  const uses = new Map<string, Use>();
  const seqRead = new WeakMap<Controller, number>();

  function useOf(device: OpenDevice): Use {
    const use = uses.get(device.id) ?? { holder: undefined, runs: 0, background: [], logged: [] };
    uses.set(device.id, use);
    return use;
  }

  function take(device: OpenDevice): string[] {
    const found = device.controllers.flatMap((controller) => {
      const unread = controller.noticesAfter(seqRead.get(controller) ?? 0);
      const last = unread.at(-1);
      if (last) seqRead.set(controller, last.seq);
      return unread.map(({ background, ...notice }) => ({ background, line: lineOf(controller, notice) }));
    });
    const use = useOf(device);
    const linesOf = (isBackground: boolean) =>
      found.filter(({ background = false }) => background === isBackground).map(({ line }) => line);
    const isReported = (line: string) => !isForRecord(line);
    use.background = [...use.background, ...linesOf(true).filter(isReported)].slice(-backgroundKept);
    use.logged = [...use.logged, ...linesOf(false).filter(isForRecord)].slice(-loggedKept);
    return linesOf(false).filter(isReported);
  }

  /** All that is left of the holder. */
  function takeAll(device: OpenDevice): string[] {
    const left = take(device);
    const use = useOf(device);
    const all = [...use.background, ...left];
    use.background = [];
    use.logged = [];
    return all;
  }

  return {
    take,
    takeLogged(device) {
      const use = useOf(device);
      const { logged } = use;
      use.logged = [];
      return logged;
    },
    begin(device, holder) {
      const use = useOf(device);
      const isSame = isHolder(use, holder);
      use.holder = holder;
      use.runs += 1;
      const left = takeAll(device);
      return isSame ? left : [];
    },
    end(device, { keep }) {
      useOf(device).runs -= 1;
      if (!keep) take(device);
    },
    read(device, caller) {
      const use = useOf(device);
      return use.runs === 0 && isHolder(use, caller) ? takeAll(device) : [];
    },
  };
}

function lineOf(controller: Controller, { kind, text }: DeviceNotice): string {
  if (kind === "console_error") return consoleNotice(text);
  if (kind !== "restarted") return text;
  return `${controller.kind === "web" ? "BROWSER" : "DEVICE"}_RESTARTED: ${text}`;
}

function isHolder({ holder }: Use, caller: Holder): boolean {
  if (holder === undefined) return false;
  if (caller.session_id !== undefined && caller.session_id === holder.session_id) return true;
  return caller.principal === holder.principal && caller.client === holder.client;
}
