import type { FindingKind } from "@labwright/controllers";
import { describe, expect, it } from "vitest";
import type { DeviceInput } from "#mcp-server/services/devices/inputs.ts";
import { Findings } from "#mcp-server/services/lab/watching/findings.ts";
import { countsAfter, countsFrom, nextChange, stageOf } from "#mcp-server/services/lab/watching/stages.ts";

const settleMs = 10_000;
const limits = { pendingMs: 5_000, activeMs: 30_000, settleMs };
const never = Number.POSITIVE_INFINITY;
const found = (kind: FindingKind, countedFrom: number) => ({ kind, countedFrom });

describe("how far a finding has come", () => {
  it.each([
    [4_999, "seen"],
    [5_000, "pending"],
    [29_999, "pending"],
    [30_000, "active"],
  ])("after %i ms it is %s", (ms, stage) => {
    const black = found("blackscreen", 1_000);
    expect(stageOf(black, [black], 1_000 + ms, limits)).toBe(stage);
  });

  it("comes no further than seen while a higher kind goes on, and only then", () => {
    const all = [found("freeze", 0), found("audio_loss", 0)];
    const stages = () => all.map((one) => stageOf(one, all, 30_000, limits));
    expect(stages()).toEqual(["active", "seen"]);
    all.push(found("blackscreen", 30_000));
    expect(stages()).toEqual(["seen", "seen", "seen"]);
    all[2] = found("blackscreen", never);
    expect(stages()).toEqual(["active", "seen", "seen"]);
  });

  it("changes next at the earliest of its times", () => {
    const all = [found("freeze", 0), found("audio_loss", 12_000), found("blackscreen", never)];
    expect([0, 5_000, 12_000, 17_000, 30_000, 42_000].map((now) => nextChange(all, now, limits))).toEqual([
      5_000,
      12_000,
      17_000,
      30_000,
      42_000,
      never,
    ]);
  });
});

it("raises an alert in time, between whichever milliseconds its clock is read", async () => {
  const late: number[] = [];
  for (let from = 1; from < 2; from += 0.05) {
    let now = from;
    let timer: { at: number; run(): void } | undefined;
    const raisedAt: number[] = [];
    // As Node has it: whole milliseconds, and time passes between two readings.
    const clock = {
      now: () => Math.floor(now),
      monotonic() {
        now += 0.1;
        return Math.floor(now);
      },
      setTimeout(run: () => void, ms: number) {
        timer = { at: now + Math.max(1, Math.trunc(ms)), run };
        return () => {
          timer = undefined;
        };
      },
      sleep: async () => undefined,
    };
    const findings = new Findings({
      ...{ deviceId: "lab/tv", clock, thresholds: limits, picture: async () => undefined },
      ...{ latestInput: () => undefined, onFault: () => undefined },
      alerts: {
        async raise() {
          raisedAt.push(now);
          return { alert: { id: "1" } } as never;
        },
        resolve: async () => undefined as never,
      },
    });
    findings.report({}, { kind: "freeze", state: "began", at: 0.65 });
    await new Promise(setImmediate);
    while (timer && timer.at < 6_000) {
      const { at, run } = timer;
      now = Math.max(now, at);
      run();
      await new Promise(setImmediate);
    }
    late.push(raisedAt[0] ?? Number.POSITIVE_INFINITY);
  }
  expect(Math.max(...late)).toBeLessThan(5_010);
});

describe("what our own input explains", () => {
  const input = (command: string, more: Partial<DeviceInput> = {}): DeviceInput => ({
    ...{ kind: "remote", command, params: {}, beganAt: 1_000, endedAt: 2_000 },
    ...more,
  });
  const running = (): DeviceInput => ({ kind: "remote", command: "open_app", params: {}, beganAt: 1_000 });
  const keys = (...names: string[]) => input("press_sequence", { params: { keys: names } });
  const key = (name: string) => input("press_key", { params: { key: name } });

  it.each<[string, FindingKind, DeviceInput | undefined, number]>([
    ["nothing without an input", "blackscreen", undefined, 3_000],
    ["a dark screen until the device must have settled", "blackscreen", key("OK"), 2_000 + settleMs],
    ["the same while the command runs", "freeze", running(), 3_000 + settleMs],
    ["no crash", "app_crash", key("OK"), 3_000],
    ["no app that does not answer", "anr", input("open_app"), 3_000],
    ["a dark screen behind POWER, for ever", "blackscreen", key("power"), never],
    ["a dark screen behind POWER_OFF, for ever", "blackscreen", key("POWER_OFF"), never],
    [
      "a dark screen behind a sequence that ends with POWER, for ever",
      "blackscreen",
      keys("OK", "POWER"),
      never,
    ],
    [
      "a dark screen behind a sequence that goes on after POWER",
      "blackscreen",
      keys("POWER", "OK"),
      2_000 + settleMs,
    ],
    ["no signal behind a plug that was switched", "no_signal", input("switch_off", { kind: "power" }), never],
    ["silence behind MUTE", "audio_loss", key("MUTE"), never],
    ["a dark screen behind MUTE only for a while", "blackscreen", key("MUTE"), 2_000 + settleMs],
    ["a still picture behind PAUSE", "freeze", key("PAUSE"), never],
    ["the end of an app that we closed", "app_crash", input("close_app"), never],
  ])("%s", (_, kind, latest, from) => {
    expect(countsFrom(kind, 3_000, latest, settleMs)).toBe(from);
  });

  it("is not what began long behind it", () => {
    expect(countsFrom("blackscreen", 12_001, key("OK"), settleMs)).toBe(12_001);
  });

  it("ends with another input, unless that means the same", () => {
    expect(countsAfter("blackscreen", 60_000, key("POWER"), settleMs)).toBe(never);
    expect(countsAfter("blackscreen", 60_000, key("OK"), settleMs)).toBe(60_000 + settleMs);
    expect(countsAfter("app_crash", 60_000, key("OK"), settleMs)).toBe(60_000);
  });
});
