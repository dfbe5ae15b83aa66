import type { HealthSource } from "../../contract.ts";
import { endsWithin } from "../../waiting/deadlines.ts";
import type { DrivenSession } from "../browser/session.ts";

/** While a step lasts longer than this, the blank page is asked too. */
const WATCHED_AFTER_MS = 400;
const ASKED_EVERY_MS = 250;

/** Reports what was around a failed step: servers that cannot be reached, and how long a blank page took to answer. */
export const createHealth = (session: DrivenSession): HealthSource => ({ watch: () => watch(session) });

function watch(session: DrivenSession): ReturnType<HealthSource["watch"]> {
  const { servers, blank } = session;
  const since = servers.count;
  let longest = 0;
  let asking: { at: number; answer: Promise<void> } | undefined;
  const askBlank = (): Promise<void> => {
    asking ??= {
      at: performance.now(),
      answer: blank.timeToAnswer().then((ms = 0) => {
        longest = Math.max(longest, ms);
        asking = undefined;
      }),
    };
    return asking.answer;
  };
  let repeated: NodeJS.Timeout | undefined;
  const timer = setTimeout(() => {
    void askBlank();
    repeated = setInterval(() => void askBlank(), ASKED_EVERY_MS).unref();
  }, WATCHED_AFTER_MS).unref();
  return {
    async ask(patienceMs) {
      if (!session.isAlive() || session.pages().length === 0) return {};
      const page = session.page();
      await endsWithin(askBlank(), patienceMs);
      const waiting = asking ? performance.now() - asking.at : 0;
      const missing = servers.unreachable(page, since);
      return {
        blankMs: Math.round(Math.max(longest, waiting)),
        ...(missing && { unreachable: missing }),
      };
    },
    end() {
      clearTimeout(timer);
      clearInterval(repeated);
    },
  };
}
