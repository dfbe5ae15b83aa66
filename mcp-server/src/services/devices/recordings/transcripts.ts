import type { RecordingReport } from "./index.ts";

/** Says that nothing could listen, never that nothing was said: this server has no speech model. */
export type Transcript = { recording_id: string; status: "inconclusive"; reason: string };

export type TranscriptService = {
  /** Throws RECORDING_NOT_FOUND. */
  get(recordingId: string): Promise<Transcript>;
};

const noSound = "the recording has no sound: its device records pictures only";
const noModel = "no speech model is configured on this server";

export const createTranscripts = (recordings: {
  find(recordingId: string): RecordingReport | undefined;
}): TranscriptService => ({
  async get(recording_id) {
    const report = recordings.find(recording_id);
    return { recording_id, status: "inconclusive", reason: reasonsOf(report).join("; ") };
  },
});

function reasonsOf(report: RecordingReport | undefined): string[] {
  if (!report) return ["the recording still goes on: stop it first"];
  const hasVideo = report.files.some(({ kind }) => kind === "video");
  return [...(hasVideo ? [] : ["the recording has no video"]), ...(report.sound ? [] : [noSound]), noModel];
}
