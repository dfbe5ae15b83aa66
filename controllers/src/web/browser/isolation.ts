import type { Isolation } from "../../contract.ts";
import { memoryOf } from "./elementsMemory.ts";
import type { LiveSession } from "./liveSession.ts";

/** Fresh browser contexts beside the holder's own. What looks at the holder's page gave out is remembered over them. */
export function createIsolation(session: LiveSession): Isolation {
  const { refs } = memoryOf(session);
  return {
    async enter({ storageState }, signal) {
      const fresh = await session.enter(storageState, signal);
      const looks = refs.looks;
      refs.looks = [];
      return {
        saveState: (name) => fresh.saveState(name),
        async leave() {
          await fresh.leave();
          refs.looks = looks;
        },
      };
    },
  };
}
