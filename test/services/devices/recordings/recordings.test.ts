import { access, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type DriverController,
  defineFactory,
  type RecordingOptions,
  type Transcriber,
} from "@labwright/controllers";
import { ToolError } from "@labwright/mcp-server";
import { sql } from "drizzle-orm";
import { afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { createRecordings, type RecordingService } from "#mcp-server/services/devices/recordings/index.ts";
import type { ArtifactStore, OpenDevice } from "#mcp-server/services/index.ts";
import { createEvents } from "#mcp-server/services/records/events.ts";
import { recordingsOf } from "#mcp-server/services/runs/reports/runView.ts";
import { eventRows, type Storage } from "#mcp-server/storage/index.ts";
import { callContext } from "../../../fixtures/callContext.ts";
import { describeEachDatabase } from "../../../fixtures/database.ts";
import { fakeClock } from "../../../fixtures/fakeClock.ts";
import { openBox, testSecrets } from "../../../fixtures/simulated.ts";
import { memoryArtifacts } from "../../../fixtures/wire.ts";

/** A device whose recorder writes a few bytes as its video, has sound, and fails on request. */
type Faults = { start?: Error; stop?: Error; hangs?: { start?: Promise<void>; stop?: Promise<void> } };
async function openRecordable(faults: Faults = {}, transcriber?: Transcriber) {
  const starts: RecordingOptions[] = [];
  const recorded = { stops: 0, busy: false };
  const controller: DriverController = {
    ...{ kind: "remote", commands: [], checks: [] },
    ...{ open: async () => {}, close: async () => {}, isAlive: () => true, noticesAfter: () => [] },
    ...(transcriber && { transcriber }),
    recorder: {
      kinds: ["video"],
      sound: true,
      async start(options) {
        if (faults.start) throw faults.start;
        await faults.hangs?.start;
        if (recorded.busy) throw new Error("recording already");
        recorded.busy = true;
        starts.push(options);
      },
      async stop() {
        recorded.stops += 1;
        recorded.busy = false;
        await faults.hangs?.stop;
        if (faults.stop) throw faults.stop;
        const path = join(starts.at(-1)?.folder ?? "", "video.webm");
        await writeFile(path, `video ${starts.length}`);
        return { files: [{ kind: "video", path, mimeType: "video/webm" }], frames: 3, lost: [] };
      },
    },
  };
  const factory = defineFactory({
    ...{ name: "fake", kinds: ["remote"], settings: z.unknown(), offers: () => [] },
    create: () => [controller],
  });
  return { device: await openBox({ factories: [factory] }), starts, recorded };
}

const spec = { video: true, trace: true, max_ms: 60_000 };
const anna = callContext({ principal: "anna" });

describeEachDatabase("the recording service", (open) => {
  let storage: Storage;
  let folder: string;
  let recordings: RecordingService;
  let artifacts: ArtifactStore;
  let device: OpenDevice;
  let starts: RecordingOptions[];
  let faults: unknown[];
  const clock = fakeClock();
  beforeAll(async () => {
    storage = await open();
  });
  beforeEach(async () => {
    await storage.db.execute(sql`truncate events`);
    folder = await mkdtemp(join(tmpdir(), "labwright-recordings-"));
    artifacts = memoryArtifacts();
    faults = [];
    recordings = serviceOn(artifacts);
    ({ device, starts } = await openRecordable());
  });
  afterEach(async () => {
    await recordings.close();
    await rm(folder, { recursive: true, force: true });
    expect(faults).toEqual([]);
  });

  function serviceOn(store: ArtifactStore): RecordingService {
    const { db, listen } = storage;
    return createRecordings({
      ...{ folder, db, clock, artifacts: store },
      secrets: testSecrets(),
      events: createEvents({ rows: eventRows(db), clock, secrets: testSecrets(), listen }),
      onFault: (error) => faults.push(error),
    });
  }
  const told = () => eventRows(storage.db).read({ after: 0, limit: 100 });
  const isThere = (path: string) =>
    access(path).then(
      () => true,
      () => false,
    );

  it("records what the device can, keeps the file, and leaves nothing next to it", async () => {
    const started = await recordings.start(device, spec, anna);
    expect(started).toMatchObject({
      records: ["video"],
      until: new Date(clock.now() + 60_000).toISOString(),
    });
    expect(recordings.running()).toBe(1);
    await clock.advance(5_000);
    const report = await recordings.stop(started.recording_id);
    expect(report).toMatchObject({
      ...{ device_id: "lab/box", ended: "stopped", duration_ms: 5_000, frames: 3, lost: [] },
      files: [{ kind: "video", mime_type: "video/webm", bytes: 7 }],
    });
    expect(recordings.running()).toBe(0);
    expect(await isThere(starts[0]?.folder ?? "")).toBe(false);
    expect(await recordings.stop(started.recording_id)).toBe(report);
  });

  it("ends at its time, or when the device does, reports it once, and can start again", async () => {
    const first = await recordings.start(device, spec, anna);
    await clock.advance(60_000);
    await expect.poll(() => recordings.running()).toBe(0);
    expect(await recordings.stop(first.recording_id)).toMatchObject({
      ended: "max_time",
      duration_ms: 60_000,
    });
    const second = await recordings.start(device, spec, anna);
    starts[1]?.ended("device_lost");
    const [one, other] = await Promise.all([1, 2].map(() => recordings.stop(second.recording_id)));
    expect(one).toBe(other);
    expect(one).toMatchObject({ ended: "device_lost" });
    await clock.advance(120_000);
    expect((await told()).map(({ type, source, payload }) => [type, source, payload.ended])).toEqual([
      ["recording.finished", "anna", "max_time"],
      ["recording.finished", "anna", "device_lost"],
    ]);
  });

  it("belongs to the runs of its device that went on meanwhile, each from where the run begins in the video", async () => {
    const device = "lab/box";
    const ranFor = async (ms: number) => {
      const started_at = new Date(clock.now()).toISOString();
      await clock.advance(ms);
      return { device, started_at, finished_at: new Date(clock.now()).toISOString() };
    };
    let answer = () => {};
    const slow = await openRecordable({
      hangs: { start: new Promise<void>((resolve) => (answer = resolve)) },
    });
    const early = await ranFor(1_000);
    await clock.advance(1_000);
    const starting = recordings.start(slow.device, spec, anna);
    await expect.poll(() => clock.waiting()).toBe(2);
    const before = await ranFor(2_000);
    answer();
    const { recording_id } = await starting;
    await clock.advance(1_500);
    const during = await ranFor(4_000);
    const cut = { ...(await ranFor(250)), finished_at: new Date(clock.now() + 9_000).toISOString() };
    await recordings.stop(recording_id);
    await clock.advance(1);
    const next = await recordings.start(slow.device, spec, anna);
    await clock.advance(10_000);
    await recordings.stop(next.recording_id);
    const of = async (run: Parameters<typeof recordingsOf>[0]) =>
      (await recordingsOf(run, eventRows(storage.db))).map(({ caption, from_s }) => [caption, from_s]);
    expect(await of(during)).toEqual([["video", 1.5]]);
    expect(await of({ ...during, started_at: before.started_at })).toEqual([["video", -2]]);
    expect(await of(cut)).toEqual([
      ["video", 5.5],
      ["video", -0.251],
    ]);
    expect(await of(early)).toEqual([]);
    expect(await of({ ...during, device: "lab/other" })).toEqual([]);
    expect(await of({ device, started_at: during.started_at })).toEqual([]);
    expect(await of(await ranFor(10))).toEqual([]);
  });

  it("is one a device, and what it could not begin is forgotten", async () => {
    const { recording_id } = await recordings.start(device, spec, anna);
    await expect(recordings.start(device, spec, anna)).rejects.toMatchObject({
      code: "ALREADY_EXISTS",
      details: { recording_id },
    });
    await recordings.stop(recording_id);
    const broken = await openRecordable({ start: new Error("no screen") });
    await expect(recordings.start(broken.device, spec, anna)).rejects.toThrow("no screen");
    await expect(recordings.start(device, { ...spec, video: false }, anna)).rejects.toMatchObject({
      code: "INVALID_INPUT",
    });
    expect(recordings.running()).toBe(0);
    expect(clock.waiting()).toBe(0);
  });

  it("says what is lost when the recorder fails, or nothing more can be stored", async () => {
    const broken = await openRecordable({ stop: new Error("the disk is gone") });
    const one = await recordings.start(broken.device, spec, anna);
    expect(await recordings.stop(one.recording_id)).toMatchObject({ files: [], lost: ["the disk is gone"] });
    const put = () => Promise.reject(new ToolError("ARTIFACT_STORE_FULL", "It is full.", "Free some space."));
    const full = serviceOn({ ...artifacts, put, putFile: put });
    const two = await full.start(device, spec, anna);
    expect(await full.stop(two.recording_id)).toMatchObject({
      files: [],
      lost: ["video: It is full. Free some space."],
    });
  });

  it("whose start hangs is given up at its deadline or with its caller, and the device is free again", async () => {
    let answer = () => {};
    const faults: Faults = { hangs: { start: new Promise<void>((resolve) => (answer = resolve)) } };
    const slow = await openRecordable(faults);
    const late = expect(recordings.start(slow.device, spec, anna)).rejects.toMatchObject({
      code: "CONTROLLER_UNAVAILABLE",
      message: expect.stringContaining("30 s"),
    });
    await expect.poll(() => clock.waiting()).toBe(2);
    await clock.advance(30_000);
    await late;
    const caller = new AbortController();
    const cancelled = recordings.start(slow.device, spec, { ...anna, signal: caller.signal });
    await expect.poll(() => clock.waiting()).toBe(2);
    caller.abort(new Error("the caller went"));
    await expect(cancelled).rejects.toThrow("the caller went");
    expect(recordings.running()).toBe(0);
    expect(clock.waiting()).toBe(0);
    // The first start comes through after all, and is stopped.
    answer();
    await expect.poll(() => slow.recorded).toMatchObject({ busy: false, stops: 1 });
    delete faults.hangs;
    const { recording_id } = await recordings.start(slow.device, spec, anna);
    expect(await recordings.stop(recording_id)).toMatchObject({ ended: "stopped", lost: [] });
  });

  it("whose stop hangs ends at its deadline, says so, and the device is free again", async () => {
    const faults: Faults = { hangs: { stop: new Promise(() => {}) } };
    const slow = await openRecordable(faults);
    const { recording_id } = await recordings.start(slow.device, spec, anna);
    const stopped = recordings.stop(recording_id);
    await expect.poll(() => clock.waiting()).toBe(1);
    await clock.advance(60_000);
    expect(await stopped).toMatchObject({ files: [], lost: [expect.stringContaining("60 s")] });
    expect(recordings.running()).toBe(0);
    delete faults.hangs;
    const next = await recordings.start(slow.device, spec, anna);
    expect(await recordings.stop(next.recording_id)).toMatchObject({ lost: [] });
  });

  it("ends with the server, and what one that was killed left is removed", async () => {
    const left = join(folder, "left", "video.webm");
    await mkdir(join(folder, "left"));
    await writeFile(left, "half");
    const { recording_id } = await recordings.start(device, spec, anna);
    expect(await isThere(left)).toBe(false);
    await recordings.close();
    expect(recordings.find(recording_id)).toMatchObject({
      ended: "server_stopped",
      files: [{ kind: "video" }],
    });
  });

  it("an unknown id is refused with the recordings that go on", async () => {
    const { recording_id } = await recordings.start(device, spec, anna);
    await expect(recordings.stop(`${recording_id.slice(0, -1)}x`)).rejects.toMatchObject({
      code: "RECORDING_NOT_FOUND",
      details: { nearest: [recording_id], open: [{ recording_id, device_id: "lab/box" }] },
    });
  });

  it("has no transcript while it goes on, and of a device without a program that listens", async () => {
    const { recording_id } = await recordings.start(device, spec, anna);
    const early = await recordings.transcript(recording_id, anna.signal);
    expect(early).toMatchObject({ status: "inconclusive", reason: expect.stringContaining("goes on") });
    await recordings.stop(recording_id);
    expect(await recordings.transcript(recording_id, anna.signal)).toEqual({
      ...{ recording_id, status: "inconclusive" },
      reason: expect.stringContaining("set controllers.audio.transcribe"),
    });
    await expect(recordings.transcript("never", anna.signal)).rejects.toMatchObject({
      code: "RECORDING_NOT_FOUND",
    });
  });

  it("has the transcript that its device makes of the stored video", async () => {
    const heard: string[] = [];
    const made = await openRecordable(
      {},
      {
        async transcribe(file) {
          heard.push(await readFile(file, "utf8"), file);
          return { text: "good evening", language: "en" };
        },
      },
    );
    const stored = memoryArtifacts({ ["0".repeat(64)]: { bytes: Buffer.from("video 1"), mimeType: "" } });
    recordings = serviceOn(stored);
    const { recording_id } = await recordings.start(made.device, spec, anna);
    await recordings.stop(recording_id);
    expect(await recordings.transcript(recording_id, anna.signal)).toEqual({
      ...{ recording_id, status: "transcribed", text: "good evening", language: "en" },
    });
    expect(heard[0]).toBe("video 1");
    await expect(access(heard[1] ?? "")).rejects.toMatchObject({ code: "ENOENT" });
  });
});
