import { z } from "zod";
import { type Command, defineCommand, type Rect, type Withheld } from "../../contract.ts";
import { hasTarget, targetShape, timeoutShape } from "../../elements/target.ts";
import { DeviceError } from "../../errors.ts";
import { DriverRefusal } from "../driver/program.ts";
import { type AndroidSession, sent } from "../session.ts";
import { locateReady } from "./pointer.ts";

const input = z.strictObject({
  ...targetShape,
  zoom: z.enum(["in", "out"]).describe("in: the fingers part; out: they meet."),
  percent: z.int().min(1).max(100).default(50).describe("How far they go, of the element or screen."),
  ...timeoutShape,
});

export function pinchCommands(session: AndroidSession): Command[] {
  return [
    defineCommand<typeof input>({
      name: "pinch",
      description: "Two fingers part or meet on an element, or on the screen.",
      effect: "write",
      input,
      async run({ zoom, percent, timeout_ms, ...target }, signal) {
        const driver = await session.backend.session(signal);
        const { area, name } = await areaOf(session, target, timeout_ms, signal);
        const { x: left, y: top, width, height } = area;
        const body = { area: { left, top, width, height }, percent: percent / 100 };
        const path = `/appium/gestures/pinch_${zoom === "in" ? "open" : "close"}`;
        try {
          await driver.ask("POST", path, body, { signal });
        } catch (error) {
          throw error instanceof DriverRefusal ? refused(error) : error;
        } finally {
          session.reader.driven();
        }
        return sent(`zoomed ${zoom} on ${name}`);
      },
    }),
  ];
}

type Target = { ref?: string | undefined; selector?: string | undefined };

async function areaOf(session: AndroidSession, target: Target, timeoutMs: number, signal: AbortSignal) {
  if (!hasTarget(target)) {
    const { space } = await session.reader.recent(signal);
    const area: Rect = { x: 0, y: 0, width: space.width, height: space.height };
    return { area, name: "the screen" };
  }
  const { seen, screen } = await locateReady(session, target, timeoutMs, signal);
  const area = seen.element.rect ?? { x: 0, y: 0, width: screen.space.width, height: screen.space.height };
  return { area, name: session.reader.describe(seen) };
}

const refused = ({ said }: DriverRefusal) =>
  new DeviceError(
    "DEVICE_ERROR",
    `The device did not take the gesture: ${said.slice(0, 300)}. Look at the screen, and choose a larger element.`,
  );

const byDriver = ["pinch", "write_clipboard", "read_clipboard", "switch_context"];

/** What only the driver does, where it is not used; what is withheld already is not said twice. */
export function withheldWithoutDriver(
  { backend }: AndroidSession,
  withheld: readonly Withheld[],
): Withheld[] {
  const reason = backend.whyNoSession();
  if (reason === undefined) return [];
  return byDriver
    .filter((name) => !withheld.some((one) => one.name === name))
    .map((name) => ({ name, reason }));
}
