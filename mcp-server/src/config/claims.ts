import type { ControllerFactory } from "@labwright/controllers";
import { pathText } from "../domain/schemaProblems.ts";
import type { ConfigFile } from "./schema.ts";
import type { Path } from "./source.ts";

type Use = { path: Path; device: string };

/** Reports every physical thing that two devices of the file use, at each of its places. */
export function checkClaims(
  devices: ConfigFile["devices"],
  factories: readonly ControllerFactory[],
  report: (path: Path, message: string) => void,
): void {
  const uses = new Map<string, Use[]>();
  devices.forEach(({ name, count, controllers }, index) => {
    const own = new Map<string, Use>();
    for (const { name: driver, claims } of factories) {
      const settings = controllers[driver];
      if (settings === undefined || !claims) continue;
      // Drivers of one device may use one thing together.
      for (const claim of claims(settings))
        own.set(claim, { path: ["devices", index, "controllers", driver], device: name });
    }
    for (const [claim, use] of own)
      uses.set(claim, [...(uses.get(claim) ?? []), ...Array.from({ length: count }, () => use)]);
  });
  for (const [claim, claimed] of uses) reportShared(claim, claimed, report);
}

function reportShared(
  claim: string,
  uses: readonly Use[],
  report: (path: Path, message: string) => void,
): void {
  if (uses.length < 2) return;
  const places = [...new Set(uses)];
  for (const place of places) {
    const others = places.filter((other) => other !== place);
    const by = others.map(({ path, device }) => `${device} (${pathText(path)})`).join(", ");
    report(
      place.path,
      others.length > 0
        ? `${claim} is used by ${place.device} and by ${by}; one device has it`
        : `${claim} is used by each of the devices that count makes; one device has it`,
    );
  }
}
