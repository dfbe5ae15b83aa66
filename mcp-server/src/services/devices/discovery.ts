import { createHash } from "node:crypto";
import type { ControllerFactory, DiscoveredDevice } from "@labwright/controllers";
import type { ConfiguredDevice, DeviceSettings } from "./entries.ts";

export type DiscoveryOptions = {
  factories: readonly ControllerFactory[];
  configured: readonly DeviceSettings[];
  toEntries(settings: readonly DeviceSettings[]): readonly ConfiguredDevice[];
};

/** The devices that drivers see by themselves, as they come and go. */
export class Discovery {
  private readonly found = new Map<ControllerFactory, ConfiguredDevice[]>();
  private readonly ends: (() => void)[];
  private readonly claimed: ReadonlySet<string>;

  constructor(private readonly options: DiscoveryOptions) {
    const { factories } = options;
    this.claimed = new Set(
      factories.flatMap((one) => this.settingsOf(one).flatMap((set) => claimsOf(one, set))),
    );
    this.ends = factories.flatMap(
      (factory) => factory.discover?.(this.settingsOf(factory), (found) => this.note(factory, found)) ?? [],
    );
  }

  list(): ConfiguredDevice[] {
    return [...this.found.values()].flat();
  }

  close(): void {
    for (const end of this.ends) end();
  }

  private settingsOf({ name, settings }: ControllerFactory): unknown[] {
    return this.options.configured.flatMap(({ controllers }) =>
      controllers[name] === undefined ? [] : [settings.parse(controllers[name])],
    );
  }

  /** What the configuration names already is that device, and no other. */
  private note(factory: ControllerFactory, found: readonly DiscoveredDevice[]): void {
    const unnamed = found.filter(({ settings }) =>
      claimsOf(factory, settings).every((claim) => !this.claimed.has(claim)),
    );
    const taken = new Set(this.options.configured.map(({ name }) => name));
    const entries = unnamed.flatMap(({ serial, model, settings }) => {
      const name = nameOf(factory.name, serial, taken);
      const controllers = { [factory.name]: settings };
      const made = this.options.toEntries([{ name, model, drivers: [factory.name], controllers }]);
      return made.map((entry) => ({ ...entry, discovered: true as const }));
    });
    this.found.set(factory, entries);
  }
}

const claimsOf = (factory: ControllerFactory, settings: unknown): readonly string[] =>
  factory.claims?.(factory.settings.parse(settings)) ?? [];

/** Always the same for one serial, and a device name as the configuration takes it. */
function nameOf(driver: string, serial: string, taken: ReadonlySet<string>): string {
  const plain = `${driver}-${serial}`;
  if (/^[A-Za-z0-9][\w.-]{0,62}$/.test(plain) && !taken.has(plain)) return plain;
  const hash = createHash("sha256").update(serial).digest("hex").slice(0, 8);
  return `${plain.replace(/[^\w.-]+/g, "-").slice(0, 54)}-${hash}`;
}
