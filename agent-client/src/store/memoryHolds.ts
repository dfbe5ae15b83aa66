import type { Clock } from "../ports.ts";
import { checkTtl } from "./limits.ts";

/** Who alone has what, until when. */
export type Holds = {
  /** False when another has it. */
  hold(name: string, holder: string, ttl_ms: number): boolean;
  letGo(name: string, holder: string): void;
  forget(name: string): void;
  /** False when another has it. */
  mayAct(name: string, holder: string): boolean;
};

export function createHolds(clock: Pick<Clock, "now">): Holds {
  const held = new Map<string, { holder: string; until: number }>();
  const mayAct = (name: string, holder: string) => {
    const hold = held.get(name);
    return hold === undefined || hold.holder === holder || hold.until <= clock.now();
  };
  return {
    mayAct,
    hold(name, holder, ttl_ms) {
      checkTtl(ttl_ms);
      if (!mayAct(name, holder)) return false;
      held.set(name, { holder, until: clock.now() + ttl_ms });
      return true;
    },
    letGo(name, holder) {
      if (held.get(name)?.holder === holder) held.delete(name);
    },
    forget: (name) => void held.delete(name),
  };
}
