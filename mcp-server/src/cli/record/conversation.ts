import type { Terminal } from "../terminal.ts";
import { type Report, reportSchema, stepText } from "./report.ts";

export type Read = (options: {
  after?: number;
  wait_ms?: number;
  point?: boolean;
}) => Promise<Record<string, unknown>>;

const waitMs = 20_000;
const menu = "Enter ends the recording, c points at something to check (F2 in the browser): ";

/**
 * Shows steps as they come, until the person ends it or the recording ends by itself, and returns the latest report. Rejects with
 * it where the recording can no longer be read.
 */
export async function follow(
  { err, ask, signal }: Pick<Terminal, "err" | "ask" | "signal">,
  read: Read,
): Promise<{ report: Report; broken?: unknown }> {
  const over = new AbortController();
  const ended = AbortSignal.any([signal, over.signal]);
  let report: Report = { revision: 0, pointing: false, steps: [], screens: [] };
  const until = new Promise<undefined>((resolve) => {
    if (ended.aborted) resolve(undefined);
    ended.addEventListener("abort", () => resolve(undefined), { once: true });
  });
  const asking = ask && askMenu(ask, read, ended).finally(() => over.abort());
  try {
    while (report.ended === undefined) {
      const reading = read({ after: report.revision, wait_ms: waitMs });
      const answer = await Promise.race([reading, until]);
      // A reading that still waits is answered when the recording is stopped.
      reading.catch(() => undefined);
      if (answer === undefined) break;
      const before = report;
      report = reportSchema.parse(answer);
      show(before, report, err);
    }
    return { report };
  } catch (broken) {
    return { report, broken };
  } finally {
    over.abort();
    await asking;
  }
}

/** A double click takes the place of two clicks that were shown. */
function show(before: Report, { steps, pointing }: Report, err: Terminal["err"]): void {
  for (const [index, step] of steps.entries())
    if (index >= before.steps.length) err(`${String(index + 1).padStart(3)} ${stepText(step)}\n`);
  if (pointing && !before.pointing) err("Click what must be there.\n");
}

async function askMenu(ask: NonNullable<Terminal["ask"]>, read: Read, ended: AbortSignal): Promise<void> {
  while (!ended.aborted) {
    const answer = (await ask(menu, ended))?.trim();
    if (!answer) return;
    // The recording may have ended meanwhile.
    if (answer === "c") await read({ point: true }).catch(() => undefined);
  }
}
