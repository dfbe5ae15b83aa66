import { writeSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { startPhoneDaemon } from "../fixtures/phoneDaemon.ts";
import { randomOf } from "./plan.ts";

const taps = Number(process.env.PHONE_TAPS ?? 12);
const seed = Number(process.env.FAULT_SEED ?? Math.floor(Math.random() * 1_000_000));
const dropEvery = 3;
/** A call with its reply takes less, mostly. */
const mostMs = 80;
/** What a call may say whose connection broke, before it or under it. */
const lostCodes = /^(?:TRANSPORT_LOST|DEVICE_OFFLINE|DEVICE_NOT_FOUND)$/;

test(
  "taps under connections that break at random: none is done twice, none that was acknowledged is missing",
  async () => {
    const { lab, host, end } = await startPhoneDaemon([{ persona: "phone" }], {});
    onTestFinished(end);
    const [phone] = lab.devices;
    if (!phone) throw new Error("The laboratory has no phone.");
    const { ui, adbd } = phone.device;
    ui.open("labsettings://page/Drops");
    const done: number[] = [];
    const tap = ui.tap.bind(ui);
    ui.tap = (point) => {
      done.push(point.x);
      tap(point);
    };
    const random = randomOf(seed);
    const acknowledged: number[] = [];
    const codes: string[] = [];
    for (let x = 0; x < taps; x++) {
      const dropped = random() * dropEvery < 1;
      const timer = dropped ? setTimeout(() => adbd.drop(), random() * mostMs) : undefined;
      const actions = [{ command: "tap", params: { x, y: 1_000 } }];
      const { error } = await host.call("execute_device_action", { device_id: "phone1", actions });
      if (error) codes.push(error.code);
      else acknowledged.push(x);
      clearTimeout(timer);
    }
    const said = `seed ${seed}: ${taps} taps, ${acknowledged.length} acknowledged, ${done.length} done, codes ${[...new Set(codes)].join(" ") || "none"}`;
    writeSync(2, `${said}\n`);
    expect(done, said).toEqual([...new Set(done)]);
    expect(done, said).toEqual(expect.arrayContaining(acknowledged));
    expect(codes.filter((code) => !lostCodes.test(code))).toEqual([]);
    expect(acknowledged.length, said).toBeGreaterThan(taps / 3);
    await lab.reconnected(phone.serial);
    await expect
      .poll(async () => (await host.call("dump_ui_elements", { device_id: "phone1" })).text, {
        timeout: 30_000,
      })
      .toContain("Drops");
  },
  (taps * 10 + 120) * 1_000,
);
