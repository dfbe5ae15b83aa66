import { z } from "zod";
import { deviceFields } from "../registry/fields.ts";
import { defineDeviceTool, defineTool } from "../registry/tool.ts";

const recordingId = z.string().min(1);

export const startRecording = defineDeviceTool({
  name: "start_recording",
  title: "Start recording",
  description:
    "Record a device's screen, and a trace where it can, while anyone uses it; needs no control of it",
  domain: "screen",
  capabilities: ["RECORDING"],
  effect: "write",
  timeoutMs: 60_000,
  drives: false,
  input: z.strictObject({
    ...deviceFields,
    video: z.boolean().default(true),
    trace: z.boolean().default(true),
    max_ms: z.int().min(1_000).max(3_600_000).default(600_000),
  }),
  output: z.object({ recording_id: z.string(), records: z.array(z.string()), until: z.string() }),
  handle: ({ input, services, device, context }) => services.recordings.start(device, input, context),
});

export const stopRecording = defineTool({
  name: "stop_recording",
  title: "Stop recording",
  description: "End a recording, or hear how it ended, and get its files",
  domain: "screen",
  capabilities: ["RECORDING"],
  effect: "write",
  idempotent: true,
  timeoutMs: 120_000,
  input: z.strictObject({ recording_id: recordingId }),
  output: z.object({
    recording_id: z.string(),
    device_id: z.string(),
    ended: z.string(),
    duration_ms: z.int(),
    frames: z.int().optional().describe("Pictures in the video"),
    files: z.array(z.object({ kind: z.string(), uri: z.string(), bytes: z.int() })),
    lost: z.array(z.string()).optional().describe("What is missing, and why"),
  }),
  async handle({ input, services, attach }) {
    const { frames, lost, files, sound: _, ...report } = await services.recordings.stop(input.recording_id);
    for (const { kind, uri, mime_type } of files)
      attach({ kind: "link", uri, name: kind, mimeType: mime_type });
    return {
      ...report,
      ...(frames > 0 && { frames }),
      files: files.map(({ kind, uri, bytes }) => ({ kind, uri, bytes })),
      ...(lost.length > 0 && { lost }),
    };
  },
});

export const getTranscript = defineTool({
  name: "get_transcript",
  title: "Transcript",
  description: "What is said in a recording; inconclusive if nothing could listen",
  domain: "screen",
  capabilities: ["RECORDING"],
  effect: "read",
  timeoutMs: 300_000,
  input: z.strictObject({ recording_id: recordingId }),
  output: z.object({
    recording_id: z.string(),
    status: z.enum(["transcribed", "inconclusive"]),
    reason: z.string().optional(),
    text: z.string().optional(),
    language: z.string().optional(),
  }),
  handle: ({ input, services, context }) =>
    services.recordings.transcript(input.recording_id, context.signal),
});
