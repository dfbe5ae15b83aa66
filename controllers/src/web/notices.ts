import type { DeviceNotice } from "../contract.ts";

const KEPT = 100;
const TEXT_LENGTH = 400;

export type Notices = {
  add(kind: DeviceNotice["kind"], text: string): void;
  /** Empties the list. */
  take(): readonly DeviceNotice[];
};

/** Keeps the last hundred; the same thing twice in a row is told once. */
export function createNotices(): Notices {
  let kept: DeviceNotice[] = [];
  return {
    add(kind, text) {
      const line = text.replace(/\s+/g, " ").slice(0, TEXT_LENGTH);
      const last = kept.at(-1);
      if (last?.kind === kind && last.text === line) return;
      kept.push({ kind, text: line, at: new Date().toISOString() });
      if (kept.length > KEPT) kept.shift();
    },
    take() {
      const taken = kept;
      kept = [];
      return taken;
    },
  };
}
