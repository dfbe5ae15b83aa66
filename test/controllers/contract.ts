import type { ControllerFactory, DriverController } from "@labwright/controllers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

/** A controller to put through the contract. `endless` is a call that does not end by itself while the device is idle. */
export type UnderContract = {
  controller: DriverController;
  factory: ControllerFactory;
  endless?: { command: string; params: Readonly<Record<string, unknown>> };
  /** Ends what the test started next to the controller. */
  dispose(): Promise<void>;
};

const NEVER = new AbortController().signal;
/** How soon a cancelled command has to have ended. */
const CANCEL_DEADLINE_MS = 3_000;

/** What it offers next to commands and checks. */
const portsOf = ({
  screen,
  elements,
  frames,
  logs,
  focus,
  findings,
  sensors,
  apps,
  recorder,
}: DriverController) =>
  [screen, elements, frames, logs, focus, findings, sensors, apps, recorder].filter((port) => port);

/** What `contract.ts` promises of every controller, for a simulated and for a real one alike. */
export function controllerContract(name: string, create: () => Promise<UnderContract>): void {
  describe(`${name} keeps the controller contract`, () => {
    let made: UnderContract;
    beforeEach(async () => {
      made = await create();
    });
    afterEach(async () => {
      await made.controller.close();
      await made.dispose();
    });

    describesItself(() => made);
    opensAndCloses(() => made);
    stopsWhenCancelled(() => made);
  });
}

function describesItself(made: () => UnderContract): void {
  const offered = () => [...made().controller.commands, ...made().controller.checks];

  it("names commands and checks uniquely, in snake_case, each with a description", () => {
    const names = offered().map((one) => one.name);
    expect(names.length + portsOf(made().controller).length).toBeGreaterThan(0);
    expect(new Set(names).size).toBe(names.length);
    for (const one of offered()) {
      expect(one.name).toMatch(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/);
      expect(one.description.length, one.name).toBeGreaterThan(5);
      expect(one.description, one.name).not.toContain("\n");
    }
  });

  it("offers, once it is open, what its driver declares for its kind, without what it withholds", async () => {
    const { controller, factory } = made();
    await controller.open(NEVER);
    const declared = factory.offers().find(({ kind }) => kind === controller.kind);
    const declaredNames = [...(declared?.commands ?? []), ...(declared?.checks ?? [])].map(
      ({ name }) => name,
    );
    const withheld = (controller.withheld?.() ?? []).map(({ name }) => name);
    const without = (names: readonly string[]) => names.filter((name) => !withheld.includes(name)).sort();
    expect(declaredNames).toEqual(expect.arrayContaining(withheld));
    expect(without(offered().map(({ name }) => name))).toEqual(without(declaredNames));
  });

  it("refuses unknown parameters", () => {
    for (const one of offered()) {
      const result = one.input.safeParse({ surely_unknown: 1 });
      expect(result.success, one.name).toBe(false);
      expect(JSON.stringify(result.error?.issues), one.name).toContain("surely_unknown");
    }
  });
}

function opensAndCloses(made: () => UnderContract): void {
  it("can be closed before it was opened", async () => {
    await made().controller.close();
    expect(made().controller.isAlive()).toBe(false);
  });

  it("can be closed twice, and is not alive then", async () => {
    const { controller } = made();
    await controller.open(NEVER);
    expect(controller.isAlive()).toBe(true);
    await controller.close();
    await controller.close();
    expect(controller.isAlive()).toBe(false);
  });

  it("can be opened twice and again after it was closed", async () => {
    const { controller } = made();
    await controller.open(NEVER);
    await controller.open(NEVER);
    await controller.close();
    await controller.open(NEVER);
    expect(controller.isAlive()).toBe(true);
  });

  it("numbers its notices, and gives those behind a number", async () => {
    const { controller } = made();
    await controller.open(NEVER);
    const all = controller.noticesAfter(0);
    expect(all.map(({ seq }) => seq)).toEqual(all.map(({ seq }) => seq).sort((a, b) => a - b));
    expect(controller.noticesAfter(all.at(-1)?.seq ?? 0)).toEqual([]);
    expect(controller.noticesAfter(0)).toEqual(all);
  });
}

function stopsWhenCancelled(made: () => UnderContract): void {
  it("ends a command soon after its signal aborts, and goes on working", async () => {
    const { controller, endless } = made();
    await controller.open(NEVER);
    const wanted = endless?.command ?? controller.commands[0]?.name;
    const command = controller.commands.find((one) => one.name === wanted);
    if (command === undefined)
      return expect(controller.checks.length + portsOf(controller).length).toBeGreaterThan(0);
    const cancel = new AbortController();
    const input = command.input.safeParse(endless?.params ?? {});
    if (!input.success) return expect(endless).toBeUndefined();
    const running = command.run(input.data, cancel.signal);
    const ended = running.then(
      () => "ended",
      () => "ended",
    );
    cancel.abort(new Error("cancelled by the test"));
    const late = new Promise((resolve) =>
      setTimeout(() => resolve("still running"), CANCEL_DEADLINE_MS).unref(),
    );
    expect(await Promise.race([ended, late])).toBe("ended");
    if (endless !== undefined) await expect(running).rejects.toThrow();
    expect(controller.isAlive()).toBe(true);
  });

  it("does not open when it is cancelled before", async () => {
    const { controller } = made();
    await expect(controller.open(AbortSignal.abort(new Error("cancelled by the test")))).rejects.toThrow();
    expect(controller.isAlive()).toBe(false);
  });
}
