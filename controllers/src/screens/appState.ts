import { z } from "zod";
import type { CommandOffer } from "../contract.ts";

export const packageShape = {
  package: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe("Package or bundle id of the app; the app in use if left out."),
};

export const permissionSchema = z
  .string()
  .regex(/^[A-Za-z][\w.]{0,199}$/, "a permission such as android.permission.CAMERA, or CAMERA")
  .describe("android.permission.CAMERA, or CAMERA for short.");

/** Android's own permissions may be given by their last word. */
export const fullPermission = (name: string): string =>
  name.includes(".") ? name : `android.permission.${name}`;

const ofPermission = z.strictObject({ permission: permissionSchema, ...packageShape });

/** The data and permissions of an app. */
export const appStateOffers = {
  clear_app: {
    name: "clear_app",
    description: "Closes an app and deletes its data, as if it had just been installed.",
    effect: "write",
    input: z.strictObject(packageShape),
  },
  grant_permission: {
    name: "grant_permission",
    description: "Gives an app a permission that it asks for at run time.",
    effect: "write",
    input: ofPermission,
  },
  revoke_permission: {
    name: "revoke_permission",
    description: "Takes a permission from an app. Android ends the app if it runs.",
    effect: "write",
    input: ofPermission,
  },
} as const satisfies Record<string, CommandOffer>;
