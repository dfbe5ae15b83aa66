import type { ArtifactStore } from "../../ports.ts";
import type { RecordingReport } from "./index.ts";

/** A speech model: turns sound into words, and says so when it hears none. */
export type Transcriber = {
  transcribe(sound: { bytes: Uint8Array; mimeType: string }, signal: AbortSignal): Promise<{ text: string }>;
};

/** `inconclusive` says that nothing could listen, never that nothing was said. */
export type Transcript =
  | { recording_id: string; status: "transcribed"; text: string }
  | { recording_id: string; status: "inconclusive"; reason: string };

export type TranscriptService = {
  /** Throws RECORDING_NOT_FOUND. */
  get(recordingId: string, signal: AbortSignal): Promise<Transcript>;
};

export type TranscriptDependencies = {
  recordings: { find(recordingId: string): RecordingReport | undefined };
  artifacts: Pick<ArtifactStore, "get">;
  /** None: every transcript is inconclusive. */
  transcriber?: Transcriber | undefined;
};

const noSound = "the recording has no sound: its device records pictures only";
const noModel = "no speech model is configured on this server";

/** What is said in recordings. */
export function createTranscripts({
  recordings,
  artifacts,
  transcriber,
}: TranscriptDependencies): TranscriptService {
  return {
    async get(recordingId, signal) {
      const report = recordings.find(recordingId);
      const inconclusive = (...reasons: string[]): Transcript => ({
        recording_id: recordingId,
        status: "inconclusive",
        reason: reasons.join("; "),
      });
      if (!report) return inconclusive("the recording still goes on: stop it first");
      const missing = [...(report.sound ? [] : [noSound]), ...(transcriber ? [] : [noModel])];
      const video = report.files.find(({ kind }) => kind === "video");
      if (!video) return inconclusive("the recording has no video", ...missing);
      if (!transcriber || missing.length > 0) return inconclusive(...missing);
      const { bytes, mimeType } = await artifacts.get(video.sha256);
      const { text } = await transcriber.transcribe({ bytes, mimeType }, signal);
      return { recording_id: recordingId, status: "transcribed", text };
    },
  };
}
