import {
  type Command,
  type ControllerKind,
  DeviceError,
  type DriverController,
  defineCommand,
  defineFactory,
  fenced,
} from "@labwright/controllers";
import { expect, it } from "vitest";
import { z } from "zod";
import { controllerContext } from "../fixtures/controllerContext.ts";

const never = new AbortController().signal;

/** Two controllers of one device whose command `act` ends when its signal aborts, or when it is let go. */
function device() {
  const log: string[] = [];
  const letGo: (() => void)[] = [];
  const act = defineCommand({
    name: "act",
    description: "Acts until it is stopped",
    effect: "write",
    input: z.strictObject({ as: z.string() }),
    async run({ as }, signal) {
      log.push(`${as} begins`);
      await new Promise<void>((resolve, reject) => {
        letGo.push(resolve);
        // The device stops a moment after it was reported to.
        signal.addEventListener("abort", () =>
          setImmediate(() => reject(new DeviceError("DEVICE_ERROR", "x"))),
        );
      }).finally(() => log.push(`${as} ends`));
      return { message: as };
    },
  });
  const controller = (kind: ControllerKind): DriverController => ({
    kind,
    commands: [act],
    checks: [],
    open: async () => {},
    close: async () => {},
    isAlive: () => true,
    noticesAfter: () => [],
  });
  const factory = defineFactory({
    name: "acting",
    kinds: ["remote", "desktop"],
    settings: z.strictObject({}),
    offers: () => [],
    create: () => [controller("remote"), controller("desktop")],
  });
  const commands = fenced(factory.create({}, controllerContext("lab/box"))).flatMap((made) => made.commands);
  const [remote, desktop] = commands;
  if (!remote || !desktop) throw new Error("The factory lost a command.");
  const run = (command: Command, as: string, fence?: number) => command.run({ as }, never, fence);
  return { log, letGo, remote, desktop, run };
}

it("stops the command of an older lease before that of a newer one begins, and refuses older ones from then on", async () => {
  const { log, letGo, remote, desktop, run } = device();
  const older = run(remote, "older", 1);
  await expect.poll(() => log).toEqual(["older begins"]);
  const newer = run(desktop, "newer", 2);
  await expect(older).rejects.toMatchObject({ code: "FENCE_OUTDATED" });
  await expect.poll(() => log).toEqual(["older begins", "older ends", "newer begins"]);
  await expect(run(remote, "late", 1)).rejects.toMatchObject({ code: "FENCE_OUTDATED" });
  await expect(run(remote, "unleased")).rejects.toMatchObject({ code: "FENCE_OUTDATED" });
  for (const go of letGo) go();
  expect(await newer).toEqual({ message: "newer" });
  expect(log).toEqual(["older begins", "older ends", "newer begins", "newer ends"]);
});

it("lets a command that waits for an older one be cancelled, and be overtaken by a still newer lease", async () => {
  const { log, letGo, remote, run } = device();
  const older = run(remote, "older", 1);
  await expect.poll(() => log).toEqual(["older begins"]);
  const second = run(remote, "second", 2);
  const third = run(remote, "third", 3);
  await expect(older).rejects.toMatchObject({ code: "FENCE_OUTDATED" });
  await expect(second).rejects.toMatchObject({ code: "FENCE_OUTDATED" });
  await expect.poll(() => log).toEqual(["older begins", "older ends", "third begins"]);
  const caller = new AbortController();
  const cancelled = remote.run({ as: "fourth" }, caller.signal, 4);
  caller.abort(new Error("no longer wanted"));
  await expect(cancelled).rejects.toThrow("no longer wanted");
  for (const go of letGo) go();
  await third.catch(() => undefined);
  expect(log).not.toContain("fourth begins");
});

it("lets commands of one lease run at the same time", async () => {
  const { log, letGo, remote, desktop, run } = device();
  const both = [run(remote, "one", 1), run(desktop, "two", 1)];
  await expect.poll(() => log).toEqual(["one begins", "two begins"]);
  for (const go of letGo) go();
  await Promise.all(both);
});
