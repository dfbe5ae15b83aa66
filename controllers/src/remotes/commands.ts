import { z } from "zod";
import {
  type Command,
  type ControllerContext,
  defineCommand,
  type Reading,
  type ReadOptions,
} from "../contract.ts";
import { sendInput, unsent } from "../dispatch.ts";
import { noSuchKey } from "../elements/keys.ts";
import { DeviceError } from "../errors.ts";
import { portable } from "../portable.ts";
import type { Moment } from "../ports.ts";
import { pause } from "../waiting/deadlines.ts";

/**
 * What sends the keys of a remote. `keys`: name to the code of its protocol. `send` and `hold` take the name of a key, and return when
 * the input left: `hold` when it was let go, also where `signal` aborts. They throw DeviceError.
 */
export type KeySender = {
  readonly keys: ReadonlyMap<string, string>;
  send(key: string, signal: AbortSignal): Promise<Moment>;
  hold(key: string, ms: number, signal: AbortSignal): Promise<Moment>;
};

const lookEveryMs = 100;
const key = portable.press_key.input.shape.key;

/** `press_key`, `press_sequence`, `press_until`, and `hold_key` where the remote `holds`. */
export function remoteCommands(
  { device: remote, holds }: { device: KeySender; holds: boolean },
  { device }: Pick<ControllerContext, "device">,
): Command[] {
  const demand = (name: string) => {
    if (remote.keys.has(name)) return;
    throw unsent(noSuchKey(name, remote.keys.keys(), " The device's setting `keys` can add keys."));
  };
  const press = (name: string, signal: AbortSignal) => sendInput(() => remote.send(name, signal));
  const hold = defineCommand({
    name: "hold_key",
    description: "Holds a key down, then lets it go.",
    effect: "write",
    input: z.strictObject({ key, ms: z.int().min(50).max(30_000).default(1_000).describe("How long.") }),
    async run({ key: name, ms }, signal) {
      demand(name);
      const sentAt = await sendInput(() => remote.hold(name, ms, signal));
      return { message: `held ${name} for ${ms} ms`, sentAt };
    },
  });
  return [
    defineCommand({
      ...portable.press_key,
      async run({ key: name, count }, signal) {
        demand(name);
        let sentAt: Moment | undefined;
        for (let at = 0; at < count; at++) sentAt = await press(name, signal);
        return { message: `pressed ${name}${count > 1 ? ` ${count} times` : ""}`, ...at(sentAt) };
      },
    }),
    ...(holds ? [hold] : []),
    defineCommand({
      name: "press_sequence",
      description: "Presses keys one after another, with a pause between them.",
      effect: "write",
      input: z.strictObject({
        keys: z.array(key).min(1).max(200),
        pause_ms: z.int().min(0).max(10_000).default(0).describe("Between two keys."),
      }),
      async run({ keys, pause_ms }, signal) {
        for (const name of keys) demand(name);
        const moments: Moment[] = [];
        for (const name of keys) {
          if (moments.length > 0) await pause(pause_ms, signal);
          moments.push(await press(name, signal));
        }
        const after_ms = moments.map((moment) => Math.round(moment - (moments[0] ?? moment)));
        return { message: `pressed ${keys.join(", ")}`, data: { after_ms }, ...at(moments.at(-1)) };
      },
    }),
    untilCommand(device, demand, press),
  ];
}

const at = (sentAt: Moment | undefined) => (sentAt === undefined ? {} : { sentAt });

function untilCommand(
  device: ControllerContext["device"],
  demand: (name: string) => void,
  press: (name: string, signal: AbortSignal) => Promise<Moment>,
): Command {
  return defineCommand({
    name: "press_until",
    description:
      "Presses a key until a check of the device holds. The check is read first and after each press; fails after at_most presses.",
    effect: "write",
    input: z.strictObject({
      key,
      check: z.string().min(1).max(80).describe("Name of a check of this device, such as text_visible."),
      params: z.record(z.string(), z.unknown()).default({}).describe("Its parameters."),
      at_most: z.int().min(1).max(200).default(20),
      wait_ms: z
        .int()
        .min(0)
        .max(60_000)
        .default(2_000)
        .describe("Longest wait for the check after a press."),
    }),
    async run({ key: name, check, params, at_most, wait_ms }, signal) {
      demand(name);
      const read = (look: ReadOptions) => device.read({ name: check, input: params }, signal, look);
      let sentAt: Moment | undefined;
      // What cannot be judged yet is looked at again; what is judged already needs no wait before the first press.
      let reading = await readUntil(() => read({}), isJudged, wait_ms, signal);
      for (let presses = 0; ; presses++) {
        if (isShown(reading)) {
          const message = `${check} holds after ${presses} presses of ${name}`;
          return { message, isNews: true, data: { presses }, ...at(sentAt) };
        }
        if (!isJudged(reading) || presses === at_most) throw notReached(check, reading, presses, name);
        const since = await press(name, signal);
        sentAt = since;
        reading = await readUntil(() => read({ since }), isShown, wait_ms, signal);
      }
    },
  });
}

const isJudged = ({ inconclusive }: Reading) => inconclusive === undefined;
const isShown = (reading: Reading) => reading.holds && isJudged(reading);

function notReached(
  check: string,
  { inconclusive, expected, actual }: Reading,
  presses: number,
  key: string,
): DeviceError {
  const after = `after ${presses} presses of ${key}`;
  return new DeviceError(
    "ACTION_REJECTED",
    inconclusive === undefined
      ? `${check} did not hold ${after}: expected ${expected}, found ${actual}. Look at the screen; choose another key, or raise at_most or wait_ms.`
      : `${check} could not be judged ${after}, so the key was not pressed again: ${inconclusive}. Look at the screen, or raise wait_ms.`,
  );
}

/** The first reading that is enough, else the last one within the time. */
async function readUntil(
  read: () => Promise<Reading>,
  isEnough: (reading: Reading) => boolean,
  ms: number,
  signal: AbortSignal,
): Promise<Reading> {
  const until = performance.now() + ms;
  for (;;) {
    const reading = await read();
    if (isEnough(reading) || performance.now() >= until) return reading;
    await pause(lookEveryMs, signal);
  }
}
