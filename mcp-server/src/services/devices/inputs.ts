import type {
  Command,
  ControllerContext,
  ControllerFactory,
  ControllerKind,
  Moment,
} from "@labwright/controllers";
import type { Clock } from "../ports.ts";

/** Times are readings of `Clock.monotonic`. `endedAt` is absent while it runs, `sentAt` (its last input event) where unknown. */
export type DeviceInput = {
  kind: ControllerKind;
  command: string;
  params: Readonly<Record<string, unknown>>;
  beganAt: number;
  endedAt?: number;
  sentAt?: Moment | undefined;
};

export type Inputs = {
  /** The latest input that had begun by then, among the last few of the device. */
  latest(deviceId: string, by: number): DeviceInput | undefined;
  /** For the controllers of a device. */
  since(deviceId: string): ControllerContext["inputsSince"];
  onInput(listener: (deviceId: string, input: DeviceInput) => void): void;
  /** The same driver, whose commands with an effect are noted. */
  noting(factory: ControllerFactory): ControllerFactory;
};

const keptInputs = 20;

export function createInputs(clock: Pick<Clock, "monotonic">): Inputs {
  const kept = new Map<string, DeviceInput[]>();
  const listeners: ((deviceId: string, input: DeviceInput) => void)[] = [];

  function begin(deviceId: string, input: DeviceInput): void {
    const inputs = kept.get(deviceId) ?? [];
    kept.set(deviceId, inputs);
    inputs.push(input);
    if (inputs.length > keptInputs) inputs.shift();
  }

  const noted = (command: Command, kind: ControllerKind, deviceId: string): Command => ({
    ...command,
    async run(params, signal, fence) {
      const input: DeviceInput = { kind, command: command.name, params, beganAt: clock.monotonic() };
      begin(deviceId, input);
      try {
        const result = await command.run(params, signal, fence);
        input.sentAt = result.sentAt;
        return result;
      } finally {
        input.endedAt = clock.monotonic();
        for (const listener of listeners) listener(deviceId, input);
      }
    },
  });

  return {
    latest: (deviceId, by) => kept.get(deviceId)?.findLast(({ beganAt }) => beganAt <= by),
    since: (deviceId) => (from) =>
      (kept.get(deviceId) ?? []).flatMap(({ command, params, sentAt, endedAt }) => {
        const at = sentAt ?? endedAt;
        return at !== undefined && at >= from ? [{ command, params, at }] : [];
      }),
    onInput: (listener) => void listeners.push(listener),
    noting: (factory) => ({
      ...factory,
      create: (settings, context) =>
        factory.create(settings, context).map((controller) => ({
          ...controller,
          commands: controller.commands.map((command) =>
            command.effect === "read" ? command : noted(command, controller.kind, context.deviceId),
          ),
        })),
    }),
  };
}
