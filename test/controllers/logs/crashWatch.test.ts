import type { DeviceFinding, Frame } from "@labwright/controllers";
import { expect, it, vi } from "vitest";
import type { CrashEvent } from "#controllers/logs/crashReader.ts";
import { createFindings } from "#controllers/logs/crashWatch.ts";

const failed: CrashEvent = { type: "failed", kind: "app_crash", packageName: "com.example", excerpt: "Boom" };
const started: CrashEvent = { type: "started", packageName: "com.example" };
const picture: Frame = {
  mimeType: "image/jpeg",
  bytes: new Uint8Array(1),
  width: 1,
  height: 1,
  rotation: 0,
  takenAt: "",
};

/** A device that reports these events at once, and whose picture comes when it is asked to. */
function watched(...events: readonly CrashEvent[]) {
  let take: (frame: Frame) => void = () => undefined;
  const taken = new Promise<Frame>((resolve) => {
    take = resolve;
  });
  const findings = createFindings({
    kinds: ["app_crash"],
    takePicture: () => taken,
    async follow(tell, signal) {
      for (const event of events) tell(event);
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    },
  });
  return { findings, take: () => take(picture) };
}

it("reports a beginning before its end, also when the app runs again before the picture is taken", async () => {
  const { findings, take } = watched(failed, started);
  const told: DeviceFinding[] = [];
  const leave = findings.onFinding((finding) => told.push(finding));
  expect(told).toEqual([]);
  take();
  await vi.waitFor(() => expect(told).toHaveLength(2));
  expect(told).toMatchObject([{ state: "began", frame: picture }, { state: "ended" }]);
  leave();
});

it("says what begins while its picture is taken once, also to who comes then", async () => {
  const { findings, take } = watched(failed, failed);
  const [early, late]: [DeviceFinding[], DeviceFinding[]] = [[], []];
  const leave = [
    findings.onFinding((finding) => early.push(finding)),
    findings.onFinding((finding) => late.push(finding)),
  ];
  take();
  await vi.waitFor(() => expect(early.length + late.length).toBeGreaterThan(1));
  expect([early, late]).toMatchObject([[{ state: "began" }], [{ state: "began" }]]);
  for (const end of leave) end();
});
