import type { Attached } from "./link.ts";

type Watch = { uri: string; changed: () => void; stop: () => void };

/** What a bridge's host watches, at whichever daemon the bridge is linked to. */
export function createWatches(link: () => Promise<Attached>) {
  const watches = new Set<Watch>();
  return {
    async watch(uri: string, changed: () => void): Promise<() => void> {
      const one: Watch = { uri, changed, stop: await (await link()).watch(uri, changed) };
      watches.add(one);
      return () => {
        watches.delete(one);
        one.stop();
      };
    },
    /** Goes on at the next daemon, which tells at once what came since: the cursor is in the address. */
    resume(daemon: Attached): void {
      for (const one of watches) {
        daemon.watch(one.uri, one.changed).then(
          (stop) => {
            one.stop = stop;
            if (!watches.has(one)) stop();
          },
          // It is gone again already, and the one after it is told the same.
          () => {},
        );
      }
    },
  };
}
