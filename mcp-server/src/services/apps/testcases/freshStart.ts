import { createHash } from "node:crypto";
import { untilAborted } from "@labwright/controllers";
import type { StartWish, TestCaseInput } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import { missing } from "../../devices/portOf.ts";
import type { Clock, DeviceService, OpenDevice, Run, Secrets } from "../../ports.ts";
import type { AppView } from "../userinterfaces/index.ts";
import type { GraphEnd } from "./blocks/block.ts";

/** How a run starts. `setup` and `storage_state` are for fresh starts only, and never both. */
export type Start = { fresh: boolean; storage_state?: string; setup?: string };

/** A caller wins over a test case, a test case over its app. */
export function startOf(
  testcase: TestCaseInput,
  app: AppView | undefined,
  fresh: boolean | undefined,
): Start {
  const ofApp: StartWish = app?.start ?? {};
  if (!(fresh ?? testcase.fresh ?? ofApp.fresh ?? true)) return { fresh: false };
  const saysItself = [testcase.fresh, testcase.storage_state, testcase.setup].some(
    (one) => one !== undefined,
  );
  const { storage_state, setup } = saysItself ? testcase : ofApp;
  if (storage_state !== undefined) return { fresh: true, storage_state };
  // The set-up test itself starts with nothing.
  return setup === undefined || setup === testcase.name ? { fresh: true } : { fresh: true, setup };
}

export const canStartFresh = (device: OpenDevice) => device.controllers.some(({ isolation }) => isolation);

/** Throws CONTROLLER_UNAVAILABLE for `fresh: true` on a device that cannot start fresh. */
export function checkFreshStart(device: OpenDevice, fresh: boolean | undefined): void {
  if (fresh !== true || canStartFresh(device)) return;
  throw new ToolError(
    "CONTROLLER_UNAVAILABLE",
    `fresh: true cannot be done: ${missing(device, "isolation")}`,
    "Leave fresh out. On a phone begin with clear_app for an app as it was when it was installed: that deletes its data.",
  );
}

/** A login may expire, so an older one is made again. */
const keptForMs = 600_000;

/** The storage states that set-up tests left, until they are old or a run that used one did not pass. */
export class Setups {
  private readonly kept = new Map<string, { at: number }>();
  private readonly making = new Map<string, Promise<unknown>>();

  constructor(
    private readonly clock: Pick<Clock, "monotonic">,
    private readonly secrets: Pick<Secrets, "fingerprint">,
  ) {}

  /** The name of a set-up's storage state. It changes with the set-up, its app, its secrets and the environment. */
  nameOf(setup: TestCaseInput, app: AppView | undefined, env: unknown): string {
    const content = JSON.stringify([setup, app?.name, app?.variables, env, this.secrets.fingerprint()]);
    return `setup-${createHash("sha256").update(content).digest("hex").slice(0, 24)}`;
  }

  private has(name: string): boolean {
    const at = this.kept.get(name)?.at;
    const age = at === undefined ? undefined : this.clock.monotonic() - at;
    return age !== undefined && age < keptForMs;
  }

  /** Makes the state unless it is there. Concurrent runs wait for one to make it; if that fails, each tries itself. */
  async ensure(name: string, make: () => Promise<GraphEnd>, signal: AbortSignal): Promise<GraphEnd> {
    for (let others = this.making.get(name); others; others = this.making.get(name))
      await untilAborted(others, signal);
    if (this.has(name)) return { ok: true };
    const made = make().then((end) => {
      if (end.ok) this.kept.set(name, { at: this.clock.monotonic() });
      return end;
    });
    const forget = () => this.making.delete(name);
    this.making.set(name, made.then(forget, forget));
    return made;
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

/** Runs `body` in a start of its own, which always ends with it. */
export async function startedFresh(starting: Starting, body: () => Promise<GraphEnd>): Promise<GraphEnd> {
  const { run, start, setup, setups } = starting;
  if (!start.fresh) return body();
  if (!canStartFresh(run.device)) {
    const ready = await setup?.run();
    return ready?.ok === false ? ready : body();
  }
  if (!setup) return within(starting, start.storage_state, body);
  const make = () => within(starting, undefined, setup.run, setup.stateName);
  const ready = await setups.ensure(setup.stateName, make, run.signal);
  if (!ready.ok) return ready;
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
