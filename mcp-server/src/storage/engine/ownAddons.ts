import { join } from "node:path";
import { type Addons, createAddons } from "@labwright/controllers";
import { packageFolder } from "./packageFolder.ts";

/** The add-ons that this build can install, and those that are installed in a data directory. */
export const ownAddons = (dataDir: string): Addons =>
  createAddons({ shipped: join(packageFolder(), "dist", "addons"), installed: join(dataDir, "addons") });
