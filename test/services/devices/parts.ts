import {
  type Controller,
  type ControllerContext,
  type ControllerFactory,
  type ControllerKind,
  defineCommand,
  defineFactory,
} from "@labwright/controllers";
import { z } from "zod";
import { createActions } from "#mcp-server/services/devices/actions/index.ts";
import { configuredDevices } from "#mcp-server/services/devices/entries.ts";
import { OpenDevices, type OpenDevicesOptions } from "#mcp-server/services/devices/openDevices.ts";
import { createVerifications } from "#mcp-server/services/devices/verifications/index.ts";
import type { ScreenService } from "#mcp-server/services/index.ts";
import { systemClock } from "#mcp-server/services/records/clock.ts";
import { createNotices } from "#mcp-server/services/records/notices.ts";
import { controllerContext } from "../../fixtures/controllerContext.ts";
import { fakeClock } from "../../fixtures/fakeClock.ts";
import { noArtifacts } from "../../fixtures/noArtifacts.ts";
import { noInputs, testSecrets } from "../../fixtures/simulated.ts";

type State = { alive: boolean; kept: boolean; opened: number; closed: number; context?: ControllerContext };
export type Part = Omit<Controller, "driver"> & State;

/** A controller whose opening the test decides over. */
export function part(
  kind: ControllerKind,
  opening: (signal: AbortSignal) => Promise<void> = async () => {},
  more: Partial<Controller> = {},
): Part {
  const made: Part = {
    ...{ kind, commands: [], checks: [], alive: false, kept: false, opened: 0, closed: 0 },
    async open(signal) {
      made.opened += 1;
      await opening(signal);
      made.alive = true;
    },
    async close() {
      made.closed += 1;
      made.alive = false;
    },
    isAlive: () => made.alive,
    isKept: () => made.kept,
    noticesAfter: () => [],
    ...more,
  };
  return made;
}

/** A driver of these parts; notes the settings that it gets. */
const driverOf = (name: string, parts: readonly Part[], made: unknown[]): ControllerFactory =>
  defineFactory({
    name,
    kinds: parts.map(({ kind }) => kind),
    settings: z.looseObject({}),
    offers: () => parts,
    create(settings, context) {
      made.push(settings);
      for (const one of parts) one.context = context;
      return parts;
    },
  });

/** One device; each part has a driver of its own: `first`, `second` and so on. */
export function openLab(
  parts: readonly Part[],
  {
    fill,
    ...settings
  }: { screen?: string; controllers?: Record<string, unknown> } & Pick<OpenDevicesOptions, "fill"> = {},
) {
  const made: unknown[] = [];
  const names = ["first", "second", "third", "fourth"];
  const factories = parts.map((one, index) => driverOf(names[index] ?? `driver-${index}`, [one], made));
  const drivers = factories.map(({ name }) => name);
  const [entry] = configuredDevices(
    "lab",
    [{ name: "d", model: "parts", drivers, controllers: {}, ...settings }],
    factories,
  );
  if (!entry) throw new Error("There is no device.");
  const clock = fakeClock();
  const held = new Set<string>();
  const devices = new OpenDevices({
    contextOf: ({ id }) => controllerContext(id),
    clock,
    fill,
    isHeld: async (id) => held.has(id),
  });
  return { devices, entry, clock, held, made };
}

/** Work whose end the test decides. */
export function decided() {
  let end: (error?: Error) => void = () => {};
  const work = new Promise<void>((resolve, reject) => {
    end = (error) => (error ? reject(error) : resolve());
  });
  return { work, end };
}

/** A command that notes what it was called with. */
export function noting(name: string, log: string[]) {
  return defineCommand({
    name,
    description: "Notes its key",
    effect: "write",
    input: z.strictObject({ key: z.string().default("") }),
    async run({ key }, _signal, fence) {
      log.push(`${name} ${key} ${fence}`);
      return { message: "noted" };
    },
  });
}

const unused = () => Promise.reject(new Error("not in this test"));
/** A screen service that gives no pictures. */
export const noScreen: ScreenService = {
  capture: async () => undefined,
  screenshot: unused,
  dump: unused,
  changes: async () => undefined,
  slowness: () => undefined,
  store: unused,
};

/** Actions and checks as the server makes them, without pictures. */
export function executorsOf(secretValues: Record<string, string> = {}) {
  const shared = { clock: systemClock, secrets: testSecrets(secretValues) };
  const verifications = createVerifications({ ...shared, screen: noScreen, inputs: noInputs });
  const parts = { artifacts: noArtifacts, notices: createNotices(), verifications };
  return { verifications, actions: createActions({ ...shared, ...parts }) };
}
