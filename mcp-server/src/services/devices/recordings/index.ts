export { createRecordings } from "./recordings.ts";
export type {
  RecordedFile,
  RecordingDependencies,
  RecordingEnd,
  RecordingReport,
  RecordingService,
  RecordingSpec,
  RecordingStart,
} from "./types.ts";
