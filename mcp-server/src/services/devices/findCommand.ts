import { type ControllerKind, controllerKinds, nearest } from "@labwright/controllers";
import type { z } from "zod";
import { ToolError } from "../../errors.ts";
import type { CheckInfo, CommandInfo, OpenDevice } from "../ports.ts";
import { schemaJson } from "../values/inputProblems.ts";

/** The commands of a device, in the order in which controllers are asked. */
export function commandsOf(device: OpenDevice): CommandInfo[] {
  return controllerKinds.flatMap((kind) =>
    (device.controllers.get(kind)?.commands ?? []).map((command) => ({ kind, command })),
  );
}

/** The checks of a device, in the order in which controllers are asked. */
export function checksOf(device: OpenDevice): CheckInfo[] {
  return controllerKinds.flatMap((kind) =>
    (device.controllers.get(kind)?.checks ?? []).map((check) => ({ kind, check })),
  );
}

/** True if a controller of `kind` may serve an action of `actionType`; left out, any may. */
export function isOfType(kind: ControllerKind, actionType: string | undefined): boolean {
  if (actionType === undefined) return true;
  return actionType === "verification" ? kind.startsWith("verification_") : kind === actionType;
}

/** The error for a name that nobody offers; never a guess in its place. */
export function notOffered(
  device: OpenDevice,
  wanted: string,
  names: readonly string[],
  what: "command" | "check",
): ToolError {
  const near = nearest(wanted, names);
  const reasons = device.unavailable.map(({ kind, reason }) => `${kind} is unavailable: ${reason}`);
  const list = what === "command" ? "list_actions" : "list_verifications";
  return new ToolError(
    "ACTION_NOT_FOUND",
    [`${device.id} has no ${what} "${wanted}".`, ...reasons].join(" "),
    near.length > 0 ? `Did you mean ${near.join(", ")}? ${list} shows all.` : `${list} shows what it has.`,
    { nearest: near },
  );
}

type Offer = { name: string; description: string; kind: ControllerKind; input: z.ZodObject };

/** Commands or checks as lines such as `press_key key timeout_ms? - Press a key`; with `name`, that one and its schema. */
export function describeOffers(
  device: OpenDevice,
  offers: readonly Offer[],
  name: string | undefined,
  what: "command" | "check",
): { text: string; schema?: Record<string, unknown> } {
  if (name === undefined) return { text: offers.map(offerLine).join("\n") };
  const found = offers.find((offer) => offer.name === name);
  if (!found) {
    throw notOffered(
      device,
      name,
      offers.map((offer) => offer.name),
      what,
    );
  }
  return { text: offerLine(found), schema: schemaJson(found.input) };
}

function offerLine({ name, description, input }: Offer): string {
  const params = Object.entries(input.shape).map(([key, type]) =>
    type.safeParse(undefined).success ? `${key}?` : key,
  );
  return `${[name, ...params].join(" ")} - ${description}`;
}
