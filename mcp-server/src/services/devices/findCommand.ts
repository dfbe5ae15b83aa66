import {
  type Check,
  type Command,
  type Controller,
  type ControllerKind,
  nearest,
} from "@labwright/controllers";
import type { z } from "zod";
import { ToolError } from "../../errors.ts";
import type { CheckInfo, CommandInfo, DeviceEntry, Offer, OfferingDevice, OpenDevice } from "../ports.ts";
import { schemaJson } from "../values/inputProblems.ts";
import { reasonsOf } from "./portOf.ts";

/** The commands of a device, in the order in which controllers are asked. */
export function commandsOf({ controllers }: Pick<OfferingDevice, "controllers">): CommandInfo[] {
  return controllers.flatMap((source) =>
    kept(source, source.commands).map((command) => ({ source, command })),
  );
}

export function checksOf({ controllers }: Pick<OfferingDevice, "controllers">): CheckInfo[] {
  return controllers.flatMap((source) => kept(source, source.checks).map((check) => ({ source, check })));
}

function kept<Offered extends { name: string }>(source: Offer, offered: readonly Offered[]): Offered[] {
  const withheld = new Set(source.withheld?.().map(({ name }) => name));
  return offered.filter(({ name }) => !withheld.has(name));
}

/** All that a device may offer, also of controllers that are not open: what its drivers declare, without what an open one withholds. */
export function offeringOf(entry: DeviceEntry, opened: OpenDevice | undefined): OfferingDevice {
  const controllers = entry.offers().map((offer) => {
    const same = opened?.controllers.filter(
      ({ driver, kind }) => driver === offer.driver && kind === offer.kind,
    );
    return { ...offer, withheld: () => (same ?? []).flatMap((controller) => controller.withheld?.() ?? []) };
  });
  return { id: entry.id, controllers, unavailable: [], offers: entry.offers };
}

type Named = Pick<Offer, "kind" | "driver" | "verification">;

/** True if a controller may run a command of `type`, which names its kind or driver; left out, any may. */
export const runsAs = ({ kind, driver }: Named, type: string | undefined): boolean =>
  type === undefined || type === kind || type === driver;

/** The same of a check, which `type` may also call by the controller's `verification`, or by that word alone. */
export function checksAs(source: Named, type: string | undefined): boolean {
  const isJudge = kindsOf(source).some((kind) => kind.startsWith("verification_"));
  return runsAs(source, type) || type === source.verification || (type === "verification" && isJudge);
}

/** The kinds by which a test may name a controller, besides its driver. */
export const kindsOf = ({ kind, verification }: Pick<Offer, "kind" | "verification">): ControllerKind[] =>
  verification === undefined ? [kind] : [kind, verification];

type Run<Offered> = { controller: Controller; offered: Offered };

/** The command of that name with the controller that runs it: of several, the first that is open and alive. */
export const findCommand = (device: OpenDevice, name: string, type?: string): Run<Command> | undefined =>
  find(device, { listOf: ({ commands }) => commands, fits: runsAs }, name, type);

export const findCheck = (device: OpenDevice, name: string, type?: string): Run<Check> | undefined =>
  find(device, { listOf: ({ checks }) => checks, fits: checksAs }, name, type);

function find<Offered extends { name: string }>(
  { controllers, isOpen }: OpenDevice,
  { listOf, fits }: { listOf: (controller: Controller) => readonly Offered[]; fits: typeof runsAs },
  name: string,
  type: string | undefined,
): Run<Offered> | undefined {
  const found = controllers.flatMap((controller) => {
    const own = fits(controller, type) ? kept(controller, listOf(controller)) : [];
    return own.filter((offered) => offered.name === name).map((offered) => ({ controller, offered }));
  });
  return found.find(({ controller }) => isOpen(controller) && controller.isAlive()) ?? found[0];
}

type Wanted = {
  wanted: string;
  names: readonly string[];
  what: "command" | "check";
  type?: string | undefined;
};

/** The error for a name that no controller offers. */
export function notOffered(device: OfferingDevice, { wanted, names, what, type }: Wanted): ToolError {
  const { id, controllers, unavailable } = device;
  if (type !== undefined && !device.offers().some((source) => checksAs(source, type))) {
    const known = [...new Set(device.offers().flatMap((offer) => [...kindsOf(offer), offer.driver]))];
    return new ToolError(
      "ACTION_NOT_FOUND",
      `${id} has no controller "${type}" for the ${what} "${wanted}"; it has ${known.join(", ")}.`,
      "Name one of these, or leave the type out.",
      { nearest: nearest(type, known) },
    );
  }
  const isWanted = ({ name }: { name: string }) => name === wanted;
  const withheld = controllers.flatMap((source) => source.withheld?.() ?? []).find(isWanted);
  const list = what === "command" ? "list_actions" : "list_verifications";
  if (withheld) {
    const message = `${id} has no ${what} "${wanted}": ${withheld.reason}`;
    return new ToolError("ACTION_NOT_FOUND", message, `${list} shows what it has.`);
  }
  const lost = device
    .offers()
    .filter(({ commands, checks }) => [...commands, ...checks].some(isWanted))
    .flatMap(({ driver, kind }) => unavailable.filter((one) => one.driver === driver && one.kind === kind));
  if (lost.length > 0) {
    return new ToolError(
      "CONTROLLER_UNAVAILABLE",
      [`${id} cannot run "${wanted}" now.`, ...reasonsOf({ unavailable: lost })].join(" "),
      "It is tried again when the device is used next; diagnose says what is missing.",
    );
  }
  const near = nearest(wanted, names);
  return new ToolError(
    "ACTION_NOT_FOUND",
    [`${id} has no ${what} "${wanted}".`, ...reasonsOf(device)].join(" "),
    near.length > 0 ? `Did you mean ${near.join(", ")}? ${list} shows all.` : `${list} shows what it has.`,
    { nearest: near },
  );
}

type Described = { name: string; description: string; input: z.ZodObject };

/** Commands or checks as lines such as `press_key key timeout_ms? - Press a key`; with `name`, that one and its schema. */
export function describeOffers(
  device: OfferingDevice,
  offers: readonly Described[],
  name: string | undefined,
  what: "command" | "check",
): { text: string; schema?: Record<string, unknown> } {
  if (name === undefined) return { text: offers.map(offerLine).join("\n") };
  const found = offers.find((offer) => offer.name === name);
  if (!found) throw notOffered(device, { wanted: name, names: offers.map((offer) => offer.name), what });
  return { text: offerLine(found), schema: schemaJson(found.input) };
}

function offerLine({ name, description, input }: Described): string {
  const params = Object.entries(input.shape).map(([key, type]) =>
    type.safeParse(undefined).success ? `${key}?` : key,
  );
  return `${[name, ...params].join(" ")} - ${description}`;
}
