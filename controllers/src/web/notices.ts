import type { DeviceNotice } from "../contract.ts";

const KEPT = 100;
const TEXT_LENGTH = 400;

export type Notices = {
  add(kind: DeviceNotice["kind"], text: string, isBeside?: boolean): void;
  after(seq: number): readonly DeviceNotice[];
};

/** Keeps the last hundred. The same thing twice in a row is kept once, as the later of the two. */
export function createNotices(): Notices {
  const kept: DeviceNotice[] = [];
  let seq = 0;
  return {
    add(kind, text, isBeside = false) {
      const line = text.replace(/\s+/g, " ").slice(0, TEXT_LENGTH);
      const last = kept.at(-1);
      if (last?.kind === kind && last.text === line && last.beside === (isBeside || undefined)) kept.pop();
      seq += 1;
      const at = new Date().toISOString();
      kept.push({ seq, kind, text: line, at, ...(isBeside && { beside: true }) });
      if (kept.length > KEPT) kept.shift();
    },
    after: (place) => kept.filter((notice) => notice.seq > place),
  };
}
