import {
  type ControllerContext,
  type ControllerFactory,
  DispatchRecord,
  type Reading,
} from "@labwright/controllers";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { controllerContext } from "../../fixtures/controllerContext.ts";
import { makeRemote, never } from "./openRemote.ts";

/** A remote, and what it sends keys to. */
export type RemoteScene = {
  factory: ControllerFactory;
  settings: object;
  context?: Partial<ControllerContext>;
  /** All that has arrived so far, in order. */
  arrived(): readonly string[] | Promise<readonly string[]>;
  /** What arrives for a press of these keys. */
  sends: { OK: readonly string[]; UP: readonly string[] };
  /** What arrives when UP is held, each once; left out where it cannot hold. */
  holds?: readonly string[];
  /** A key of the settings that is refused, and the code of that. */
  refuses?: { key: string; code: string };
  /** Has it answer nothing from now on, or again. `key`, OK if left out, is then pressed. */
  silence?: { set(isSilent: boolean): void; key?: string };
  close(): Promise<void>;
};

/** For a stand-in with such a switch. */
export const silenceOf = (faults: { isSilent: boolean }) => ({
  set(isSilent: boolean) {
    faults.isSilent = isSilent;
  },
});

/** How a command fails, and whether its input was sent. */
export async function failureOf(work: () => Promise<unknown>) {
  const inputs = new DispatchRecord();
  const failure = await inputs.run(work).then(
    () => undefined,
    (error: unknown) => error,
  );
  return { failure, dispatched: inputs.dispatched };
}

/** Runs `work` until nothing happens any more, and has its deadlines pass at once. Only its timers are not real. */
export async function withoutWaiting<T>(work: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const state = { isOver: false };
    const result = work().finally(() => {
      state.isOver = true;
    });
    result.catch(() => undefined);
    while (!state.isOver) {
      // Long enough for what is on its way.
      for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
      await vi.advanceTimersByTimeAsync(1_000);
    }
    return await result;
  } finally {
    vi.useRealTimers();
  }
}

/** What every remote does alike: its commands arrive, say when their last input left, and fail with what to do. */
export function remoteContract(
  name: string,
  start: () => Promise<RemoteScene>,
  { without = [] }: { without?: readonly ("refuses" | "silence")[] } = {},
): void {
  describe(`${name} keeps the contract of remotes`, () => {
    let scene: RemoteScene;
    let made: ReturnType<typeof makeRemote>;
    let readings: Reading[] = [];
    beforeAll(async () => {
      scene = await start();
      const read = async () => readings.shift() ?? shown;
      made = makeRemote(scene.factory, scene.settings, {
        ...scene.context,
        device: { ...controllerContext("lab/tv").device, read },
      });
      await made.remote.open(never);
    });
    afterAll(async () => {
      await made?.remote.close();
      await scene?.close();
    });

    const hidden = { holds: false, expected: "BBC", actual: "ITV" };
    const shown = { holds: true, expected: "BBC", actual: "BBC" };
    /** Runs a command, and returns its result once `wanted` has arrived. */
    const run = async (command: string, params: object, wanted: readonly string[]) => {
      const before = (await scene.arrived()).length;
      const startedAt = performance.now();
      const result = await made.run(command, params);
      const arrived = async () => (await scene.arrived()).slice(before);
      await expect.poll(arrived).toEqual(wanted);
      const { sentAt = Number.NaN } = result;
      expect(sentAt).toBeGreaterThan(startedAt);
      expect(sentAt).toBeLessThanOrEqual(performance.now());
      return result;
    };

    it("press_key", async () => {
      const { OK } = scene.sends;
      await run("press_key", { key: "OK", count: 2 }, [...OK, ...OK]);
    });

    it("hold_key", async () => {
      const { holds } = scene;
      const offered = made.remote.commands.some((one) => one.name === "hold_key");
      expect(offered).toBe(holds !== undefined);
      if (!holds) return;
      const before = (await scene.arrived()).length;
      const startedAt = performance.now();
      const { sentAt = 0 } = await made.run("hold_key", { key: "UP", ms: 150 });
      expect(sentAt - startedAt).toBeGreaterThanOrEqual(150);
      // A remote may repeat it.
      const arrived = async () => (await scene.arrived()).slice(before);
      await expect
        .poll(async () => (await arrived()).filter((one, at, all) => one !== all[at - 1]))
        .toEqual(holds);
    });

    it("press_sequence", async () => {
      const { UP, OK } = scene.sends;
      const keys = ["UP", "OK", "UP"];
      const result = await run("press_sequence", { keys, pause_ms: 20 }, [...UP, ...OK, ...UP]);
      const { after_ms = [] } = result.data ?? {};
      expect(after_ms).toEqual([0, expect.any(Number), expect.any(Number)]);
      const [, second = 0, third = 0] = after_ms as number[];
      expect(second).toBeGreaterThanOrEqual(20);
      expect(third - second).toBeGreaterThanOrEqual(19);
    });

    it("press_until", async () => {
      const { OK } = scene.sends;
      const until = { key: "OK", check: "text_visible", params: { text: "BBC" }, wait_ms: 0 };
      readings = [hidden, hidden, shown];
      const result = await run("press_until", until, [...OK, ...OK]);
      expect(result.data).toEqual({ presses: 2 });
      readings = [hidden, hidden, hidden];
      await expect(made.run("press_until", { ...until, at_most: 2 })).rejects.toMatchObject({
        code: "ACTION_REJECTED",
        message: expect.stringMatching(/after 2 presses.*expected BBC, found ITV/),
      });
      readings = [{ ...hidden, inconclusive: "no picture since the key" }];
      await expect(made.run("press_until", until)).rejects.toMatchObject({
        message: expect.stringMatching(/could not be judged after 0 presses.*no picture since the key/),
      });
    });

    it("names the nearest keys for one that is not in its map, and sends nothing", async () => {
      const before = (await scene.arrived()).length;
      const unknown = await failureOf(() => made.run("press_sequence", { keys: ["OK", "UPP"] }));
      expect(unknown).toMatchObject({
        dispatched: "no",
        failure: { code: "INVALID_PARAMS", message: expect.stringMatching(/Nearest: .*UP/) },
      });
      expect(await scene.arrived()).toHaveLength(before);
    });

    if (!without.includes("refuses"))
      it("that refuses a key says so, and that none left", async () => {
        const { key = "", code } = scene.refuses ?? {};
        expect(await failureOf(() => made.press(key))).toMatchObject({
          dispatched: "no",
          failure: { code, message: expect.stringMatching(/^Refused by .*\. [A-Z]/s) },
        });
      });

    if (!without.includes("silence"))
      it("that is silent leaves open whether the key arrived, and is asked before it is used again", async () => {
        const { set = () => {}, key = "OK" } = scene.silence ?? {};
        set(true);
        try {
          expect(await withoutWaiting(() => failureOf(() => made.press(key)))).toMatchObject({
            dispatched: "unknown",
            failure: { code: "COMMAND_TIMEOUT", message: expect.stringContaining("Look at the screen") },
          });
          expect(made.remote.status?.()).toMatchObject({ state: "offline", fix: expect.any(String) });
        } finally {
          set(false);
        }
        await made.remote.open(never);
        expect(made.remote.status?.()).toEqual({ state: "online" });
        await made.press("OK");
      });
  });
}
