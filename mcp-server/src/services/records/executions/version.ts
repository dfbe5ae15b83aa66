import type { OpenDevice } from "../../ports.ts";

/** Name and version of what the device's controllers drive, such as `chromium 141.0.7390.37`; undefined where none says. */
export function versionOf({ controllers }: OpenDevice): string | undefined {
  const versions = new Set(controllers.flatMap((controller) => controller.facts?.().version ?? []));
  return versions.size > 0 ? [...versions].join(", ") : undefined;
}
