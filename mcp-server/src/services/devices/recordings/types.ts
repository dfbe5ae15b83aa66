import type { RecordingKind, RecordingLoss } from "@labwright/controllers";
import type { Database } from "../../../storage/index.ts";
import type { ArtifactStore, CallContext, Clock, EventInput, OpenDevice, Secrets } from "../../ports.ts";

export type RecordingSpec = { video: boolean; trace: boolean; max_ms: number };
export type RecordingStart = { recording_id: string; records: RecordingKind[]; until: string };

/** `stopped` by a call, or what ended it before. */
export type RecordingEnd = "stopped" | "max_time" | "server_stopped" | RecordingLoss;
export type RecordedFile = {
  kind: RecordingKind;
  uri: string;
  sha256: string;
  mime_type: string;
  bytes: number;
};

/** What a recording left. `frames` counts the video's pictures; `lost` says in a line each what is missing, and why. */
export type RecordingReport = {
  recording_id: string;
  device_id: string;
  ended: RecordingEnd;
  duration_ms: number;
  frames: number;
  sound: boolean;
  files: RecordedFile[];
  lost: string[];
};

/** Recordings of devices: one a device, without its lease, beside whoever drives it. */
export type RecordingService = {
  /** Throws CONTROLLER_UNAVAILABLE for a device that cannot be recorded, ALREADY_EXISTS for one that is. */
  start(device: OpenDevice, spec: RecordingSpec, context: CallContext): Promise<RecordingStart>;
  /** Ends it, unless it has ended, and stores its files. Throws RECORDING_NOT_FOUND with those that go on. */
  stop(recordingId: string): Promise<RecordingReport>;
  /** Undefined while it goes on. Throws RECORDING_NOT_FOUND. */
  find(recordingId: string): RecordingReport | undefined;
  running(): number;
  /** Ends all of them and stores their files. */
  close(): Promise<void>;
};

export type RecordingDependencies = {
  /** Of this service alone: what is in it at the start was left by a process that died. */
  folder: string;
  db: Database;
  artifacts: ArtifactStore;
  secrets: Pick<Secrets, "mask">;
  events: { append(tx: Database, event: EventInput): Promise<unknown> };
  clock: Clock;
  /** Told of faults that nobody waits for. */
  onFault(error: unknown): void;
};
