import type { Controller, ControllerFacts, ControllerStatus } from "@labwright/controllers";
import type { UserInterface } from "../../domain/index.ts";
import type {
  CallContext,
  DeviceEntry,
  DeviceRef,
  DeviceService,
  Lease,
  OpenDevice,
  Unavailable,
} from "../ports.ts";
import { kindsOf } from "./findCommand.ts";

export type HostView = {
  name: string;
  status: string;
  /** `status` is there while the device is open. */
  devices: { id: string; model: string; state: string; status?: string; discovered?: true }[];
};
export type CompatibleView = {
  devices: { id: string; host: string; model: string; state: string }[];
  others: { id: string; reason: string }[];
};
export type DeviceInfo = {
  id: string;
  model: string;
  state: string;
  open: boolean;
  status?: string;
  make?: string;
  /** Of what it drives, such as the browser or the system. */
  version?: string;
  screen?: { width: number; height: number };
  controllers: string;
  unavailable: Unavailable[];
};

export type Inventory = {
  hosts(context: CallContext): Promise<HostView[]>;
  info(ref: DeviceRef, context: CallContext): Promise<DeviceInfo>;
  /** Free devices first, then those held; `others` says why the rest cannot run the userinterface. */
  compatible(userinterfaceName: string, context: CallContext): Promise<CompatibleView>;
};

export type InventoryDependencies = {
  devices: DeviceService;
  userinterfaces: { get(name: string): Promise<UserInterface> };
};

export function createInventory({ devices, userinterfaces }: InventoryDependencies): Inventory {
  function stateOf(entry: DeviceEntry, leases: readonly Lease[], context: CallContext): string {
    const lease = leases.find(({ device_id }) => device_id === entry.id);
    if (!lease) return "free";
    const own = lease.principal === context.principal && lease.client === context.client;
    return own ? `yours until ${lease.expires_at}` : `held by ${lease.client} until ${lease.expires_at}`;
  }

  return {
    async hosts(context) {
      const leases = await devices.leases();
      const names = [...new Set(devices.list().map(({ host }) => host))];
      const lineOf = (entry: DeviceEntry) => {
        const opened = devices.opened(entry.id);
        return {
          ...{ id: entry.id, model: entry.model, state: stateOf(entry, leases, context) },
          ...(opened && { status: statusOf(opened) }),
          ...(entry.discovered && { discovered: entry.discovered }),
        };
      };
      return names.map((name) => ({
        name,
        status: "online",
        devices: devices
          .list()
          .filter(({ host }) => host === name)
          .map(lineOf),
      }));
    },
    async info(ref, context) {
      const { entry, opened } = await devices.peek(ref, context);
      return {
        id: entry.id,
        model: entry.model,
        state: stateOf(entry, await devices.leases(), context),
        open: opened !== undefined,
        ...(opened && { status: statusOf(opened), ...factsOf(opened) }),
        controllers: (opened?.controllers ?? entry.offers()).flatMap(kindsOf).join(", "),
        unavailable: [...(opened?.unavailable ?? [])],
      };
    },
    async compatible(userinterfaceName, context) {
      const { models, name } = await userinterfaces.get(userinterfaceName);
      const leases = await devices.leases();
      const fits = devices.list().filter(({ model }) => models.includes(model));
      const views = fits.map((entry) => ({
        id: entry.id,
        host: entry.host,
        model: entry.model,
        state: stateOf(entry, leases, context),
      }));
      const rank = ({ state }: { state: string }) =>
        state.startsWith("yours") ? 0 : state === "free" ? 1 : 2;
      return {
        devices: views.sort((a, b) => rank(a) - rank(b)),
        others: devices
          .list()
          .filter((entry) => !fits.includes(entry))
          .map(({ id, model }) => ({ id, reason: `model ${model}; ${name} runs on ${models.join(", ")}` })),
      };
    },
  };
}

/** `online`, or what is wrong with each controller that is not: its state, why, and what a person can do. */
export function statusOf({ controllers, isOpen }: OpenDevice): string {
  const problems = controllers.filter(isOpen).flatMap((controller) => {
    const status = controller.status?.() ?? lifeOf(controller);
    if (status.state === "online") return [];
    const { state, reason, fix } = status;
    return [[`${controller.kind} (${controller.driver}) ${state}: ${reason}`, fix].filter(Boolean).join(" ")];
  });
  return problems.length === 0 ? "online" : problems.join("; ");
}

const lifeOf = (controller: Controller): ControllerStatus =>
  controller.isAlive()
    ? { state: "online" }
    : { state: "offline", reason: "its connection was lost.", fix: "The next call opens it again." };

/** What the controllers know of the device: the first value of each fact counts. */
function factsOf({ controllers }: OpenDevice): ControllerFacts {
  return Object.assign({}, ...controllers.map((controller) => controller.facts?.()).toReversed());
}
