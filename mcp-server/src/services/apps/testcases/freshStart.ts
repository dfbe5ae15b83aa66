import { createHash } from "node:crypto";
import type { TestCaseInput } from "../../../domain/index.ts";
import type { Clock, DeviceService, OpenDevice, Run } from "../../ports.ts";
import type { AppView } from "../userinterfaces/index.ts";
import type { GraphEnd } from "./blocks/block.ts";
import type { Start } from "./startOf.ts";

export const canStartFresh = (device: OpenDevice) => device.controllers.some(({ isolation }) => isolation);

/** Sessions of apps end; a login of this age is made again. */
const keptForMs = 600_000;

/** The storage states that set-up tests left, until they are old or a run that started with one did not pass. */
export class Setups {
  private readonly kept = new Map<string, { at: number }>();

  constructor(private readonly clock: Pick<Clock, "monotonic">) {}

  /** A name for the storage state of this set-up; another one when the set-up or its app was changed. */
  nameOf(setup: TestCaseInput, app: AppView | undefined): string {
    const content = JSON.stringify([setup, app?.name, app?.variables]);
    return `setup-${createHash("sha256").update(content).digest("hex").slice(0, 24)}`;
  }

  has(name: string): boolean {
    const at = this.kept.get(name)?.at;
    const age = at === undefined ? undefined : this.clock.monotonic() - at;
    return age !== undefined && age < keptForMs;
  }

  keep(name: string): void {
    this.kept.set(name, { at: this.clock.monotonic() });
  }

  forget(name: string): void {
    this.kept.delete(name);
  }
}

export type Starting = {
  run: Run;
  start: Start;
  devices: Pick<DeviceService, "startFresh">;
  setups: Setups;
  /** The set-up test of the start, with the name of the storage state that it leaves. */
  setup: { stateName: string; run(): Promise<GraphEnd> } | undefined;
};

/** Runs `body` in a start of its own and ends that start, however the body ends. */
export async function startedFresh(starting: Starting, body: () => Promise<GraphEnd>): Promise<GraphEnd> {
  const { run, start, setup, setups } = starting;
  if (!start.fresh) return body();
  if (!canStartFresh(run.device)) {
    const ready = await setup?.run();
    return ready?.ok === false ? ready : body();
  }
  if (!setup) return within(starting, start.storage_state, body);
  if (!setups.has(setup.stateName)) {
    const end = await within(starting, undefined, setup.run, setup.stateName);
    if (!end.ok) return end;
    setups.keep(setup.stateName);
  }
  let passed = false;
  try {
    const end = await within(starting, setup.stateName, body);
    passed = end.ok;
    return end;
  } finally {
    if (!passed) setups.forget(setup.stateName);
  }
}

/** `saveAs`: keeps the storage state of a body that ended well. */
async function within(
  { run, devices }: Starting,
  storageState: string | undefined,
  body: () => Promise<GraphEnd>,
  saveAs?: string,
): Promise<GraphEnd> {
  const fresh = await devices.startFresh(run.device, storageState, run.signal);
  try {
    const end = await body();
    if (end.ok && saveAs !== undefined) await fresh?.saveState(saveAs);
    return end;
  } finally {
    await fresh?.leave();
  }
}
