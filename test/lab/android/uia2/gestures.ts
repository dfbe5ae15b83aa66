import { z } from "zod";
import type { Uia2Session } from "./session.ts";

const area = z.object({ left: z.number(), top: z.number(), width: z.number(), height: z.number() });

export const pressBody = z.object({ offset: z.object({ x: z.number(), y: z.number() }) });
export const pinchBody = z.object({ area, percent: z.number().min(0).max(1) });

/** Between two taps of one double tap, half of the longest: AOSP, ViewConfiguration. */
const doubleTapMs = 150;

export function click({ ui }: Uia2Session, { offset }: z.output<typeof pressBody>): void {
  ui.tap(offset);
}

export async function doubleClick(
  { ui, clock }: Uia2Session,
  { offset }: z.output<typeof pressBody>,
): Promise<void> {
  ui.tap(offset);
  await new Promise<void>((resolve) => clock.after(doubleTapMs, resolve));
  ui.tap(offset);
}

/** Two fingers that part, or come together, by a part of the area. */
export function pinch({ ui }: Uia2Session, body: z.output<typeof pinchBody>, opens: boolean): void {
  const { left, top, width, height } = body.area;
  const scale = 1 + body.percent;
  ui.pinch({ x: left + width / 2, y: top + height / 2 }, opens ? scale : 1 / scale);
}
