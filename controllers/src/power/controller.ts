import { z } from "zod";
import {
  type Check,
  type Command,
  type CommandResult,
  type ControllerContext,
  defineCheck,
  defineCommand,
} from "../contract.ts";
import type { DiagnosisContext, DiagnosisFinding } from "../diagnosis.ts";
import { sendInput } from "../dispatch.ts";
import { DeviceError } from "../errors.ts";
import {
  type ControllerFactory,
  type DriverController,
  defineFactory,
  type KindOffer,
  nowhere,
} from "../factory.ts";
import { cycle } from "./cycle.ts";
import type { MakeOutlet, Outlet, PowerState } from "./outlet.ts";

type PowerDriver<Settings extends z.ZodType> = {
  name: string;
  settings: Settings;
  /** For `claims`, and for the lists of what it offers: any settings that parse. */
  claim(settings: z.output<Settings>): string;
  make: MakeOutlet<z.output<Settings>>;
  /** What a device needs besides an outlet that answers; that is asked when it is empty. */
  lacks?(settings: z.output<Settings>, context: DiagnosisContext): readonly DiagnosisFinding[];
};

/** Makes a driver of one outlet. */
export function powerFactory<Settings extends z.ZodType>(driver: PowerDriver<Settings>): ControllerFactory {
  return defineFactory({
    name: driver.name,
    kinds: ["power"],
    settings: driver.settings,
    offers: () => [outletOffer],
    claims: (settings) => [`outlet:${driver.claim(settings)}`],
    create: (settings, context) => [outletController(driver.make(settings, context), context)],
    async diagnose(settings, context) {
      const found = driver.lacks?.(settings, context) ?? [];
      return found.some(({ status }) => status === "missing")
        ? found
        : [...found, await asked(driver, settings, context)];
    },
  });
}

async function asked<Settings extends z.ZodType>(
  driver: PowerDriver<Settings>,
  settings: z.output<Settings>,
  { addons, signal }: DiagnosisContext,
): Promise<DiagnosisFinding> {
  const what = `outlet of ${driver.name}`;
  if (JSON.stringify(settings).includes("{{"))
    return { what, status: "ok", detail: "its settings hold a secret, so it was not asked" };
  try {
    const outlet = driver.make(settings, { allowHost: () => {}, allowAddress: () => {}, addons });
    try {
      const state = await outlet.read(signal);
      return {
        what,
        status: "ok",
        detail: `${outlet.name} is ${state ?? "there; its state cannot be read"}`,
      };
    } finally {
      outlet.close?.();
    }
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return { what, status: "missing", detail, fix: `Correct controllers.${driver.name} of the device` };
  }
}

/** The controller of an outlet: all have the same commands and check. Opening it reads its state. */
export function outletController(outlet: Outlet, context: ControllerContext): DriverController {
  let isOpen = false;
  return {
    kind: "power",
    commands: commandsOf(outlet, context),
    checks: [powerIs(outlet)],
    async open(signal) {
      signal.throwIfAborted();
      await outlet.read(signal);
      isOpen = true;
    },
    async close() {
      isOpen = false;
      outlet.close?.();
    },
    isAlive: () => isOpen,
    noticesAfter: () => [],
  };
}

const nothing = z.strictObject({});
const cycleInput = z.strictObject({
  off_ms: z.int().min(100).max(120_000).default(5_000).describe("How long the outlet stays off."),
  wait_for_picture: z
    .boolean()
    .optional()
    .describe("Waits until the picture went and came back. Left out: where the device sends frames."),
  timeout_ms: z.int().min(100).max(600_000).default(120_000).describe("The longest wait for the picture."),
});

function commandsOf(outlet: Outlet, context: ControllerContext): Command[] {
  return [
    defineCommand({
      name: "power_on",
      description: "Switches the device's outlet on.",
      effect: "write",
      input: nothing,
      run: (_input, signal) => turned(outlet, "on", signal),
    }),
    defineCommand({
      name: "power_off",
      description: "Switches the device's outlet off.",
      effect: "write",
      input: nothing,
      run: (_input, signal) => turned(outlet, "off", signal),
    }),
    defineCommand({
      name: "power_cycle",
      description: "Switches the device's outlet off and on again, and waits for the picture.",
      effect: "write",
      input: cycleInput,
      run: (input, signal) => cycle(outlet, input, context, signal),
    }),
    defineCommand({
      name: "power_state",
      description: "Reads whether the device's outlet is on.",
      effect: "read",
      input: nothing,
      async run(_input, signal) {
        const state = await outlet.read(signal);
        if (state === undefined) throw cannotAsk(outlet);
        return { message: `${outlet.name} is ${state}.`, isNews: true, data: { state } };
      },
    }),
  ];
}

async function turned(outlet: Outlet, state: PowerState, signal: AbortSignal): Promise<CommandResult> {
  await sendInput(() => outlet.turn(state, signal));
  return { message: `Switched ${outlet.name} ${state}.`, sentAt: performance.now(), data: { state } };
}

const powerIs = (outlet: Outlet): Check =>
  defineCheck({
    name: "power_is",
    description: "Whether the device's outlet is on or off.",
    input: z.strictObject({ state: z.enum(["on", "off"]) }),
    judges: () => "subject",
    async read({ state: expected }, signal) {
      const actual = await outlet.read(signal);
      const reading = { expected: `the outlet is ${expected}`, actual: `it is ${actual ?? "unknown"}` };
      if (actual === undefined) return { ...reading, holds: false, inconclusive: cannotAsk(outlet).message };
      return { ...reading, holds: actual === expected };
    },
  });

const cannotAsk = ({ name, unreadable = "" }: Outlet) =>
  new DeviceError("COMMAND_UNSUITABLE", `The state of ${name} cannot be read. ${unreadable}`.trim());

const nowhereOutlet: Outlet = {
  name: "none",
  read: async () => undefined,
  turn: async () => undefined,
};
/** What every outlet's controller offers. */
export const outletOffer: KindOffer = {
  kind: "power",
  commands: commandsOf(nowhereOutlet, nowhere),
  checks: [powerIs(nowhereOutlet)],
};
