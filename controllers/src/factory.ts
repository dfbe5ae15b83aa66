import type { z } from "zod";
import type { Controller, ControllerContext, ControllerKind } from "./contract.ts";
import { fenced } from "./fence.ts";

/**
 * Makes the controllers of one technology. `settings` is the strict schema of what a device's `controllers` entry may
 * say under `name`; `create` may return several controllers that share one connection.
 */
export type ControllerFactory<Settings extends z.ZodType = z.ZodType> = {
  name: string;
  kinds: readonly ControllerKind[];
  settings: Settings;
  create(settings: z.output<Settings>, context: ControllerContext): readonly Controller[];
};

/** Infers the settings type. The controllers that it makes refuse commands of an older lease. */
export function defineFactory<Settings extends z.ZodType>(
  factory: ControllerFactory<Settings>,
): ControllerFactory {
  return {
    ...factory,
    create(settings: z.output<Settings>, context: ControllerContext) {
      return fenced(factory.create(settings, context));
    },
  };
}
