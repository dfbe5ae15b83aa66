import type { BrowserContext } from "playwright-core";
import type { DeviceNotice } from "../../contract.ts";

const KEPT = 100;
const TEXT_LENGTH = 400;

export type Notices = {
  /** `context`: the one whose page did it; none for what concerns the whole browser. */
  add(kind: DeviceNotice["kind"], text: string, context?: BrowserContext): void;
  after(seq: number): readonly DeviceNotice[];
};

/**
 * Keeps the last hundred. The same thing twice in a row is kept once, as the later of the two. What a context did is beside the
 * run when another one is driven, be it when it happens or when it is read.
 */
export function createNotices(isBeside: (context: BrowserContext) => boolean): Notices {
  const kept: (DeviceNotice & { context: BrowserContext | undefined })[] = [];
  let seq = 0;
  return {
    add(kind, text, context) {
      const line = text.replace(/\s+/g, " ").slice(0, TEXT_LENGTH);
      const last = kept.at(-1);
      if (last?.kind === kind && last.text === line && last.context === context) kept.pop();
      seq += 1;
      const beside = context !== undefined && isBeside(context) && { beside: true as const };
      kept.push({ seq, kind, text: line, at: new Date().toISOString(), ...beside, context });
      if (kept.length > KEPT) kept.shift();
    },
    after: (place) =>
      kept
        .filter((notice) => notice.seq > place)
        .map(({ context, ...notice }) =>
          context !== undefined && isBeside(context) ? { ...notice, beside: true } : notice,
        ),
  };
}
