import { z } from "zod";
import { deviceFields } from "../registry/fields.ts";
import { defineDeviceTool, defineTool } from "../registry/tool.ts";

const recordingId = z.string().min(1);
const stepsEnd = z.enum(["stopped", "max_time", "server_stopped", "device_lost", "lease_lost"]);
const checkShape = z.object({
  command: z.string(),
  params: z.record(z.string(), z.unknown()),
  negate: z.boolean().optional(),
});
const stepFields = {
  steps: z.array(
    z.object({
      ...checkShape.shape,
      timeout_ms: z.int().optional(),
      by: z.enum(["person", "tool", "picked"]),
      about: z.string().optional(),
      screen: z.int().optional().describe("Index of the screen that it led to"),
      arrival: checkShape.optional().describe("Proves that it led there"),
      proposals: z.array(checkShape).optional().describe("Checks of what it changed, best first"),
      remark: z.string().optional(),
    }),
  ),
  screens: z.array(z.object({ name: z.string(), check: checkShape.optional() })),
};

export const startRecording = defineDeviceTool({
  name: "start_recording",
  title: "Start recording",
  description:
    "Record a device's screen, and a trace where it can, while anyone uses it; needs no control of it. Kind steps records what your calls do, and a person by hand, as steps of a test",
  domain: "screen",
  capabilities: ["RECORDING"],
  effect: "write",
  timeoutMs: 60_000,
  drives: false,
  input: z.strictObject({
    ...deviceFields,
    kind: z.enum(["screen", "steps"]).default("screen"),
    video: z.boolean().default(true),
    trace: z.boolean().default(true),
    max_ms: z.int().min(1_000).max(3_600_000).default(600_000),
  }),
  output: z.object({
    recording_id: z.string(),
    records: z.array(z.string()),
    until: z.string(),
    hears_person: z.boolean().optional().describe("Also steps that a person does by hand"),
  }),
  async handle({ input, services, device, context }) {
    if (input.kind === "screen") return services.recordings.start(device, input, context);
    const { device_id, session_id } = input;
    const ref = session_id === undefined ? { device_id: device_id ?? device.id } : { session_id };
    return { records: ["steps"], ...(await services.steps.start(ref, input, context)) };
  },
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
    duration_ms: z.int().optional(),
    frames: z.int().optional().describe("Pictures in the video"),
    files: z.array(z.object({ kind: z.string(), uri: z.string(), mime_type: z.string(), bytes: z.int() })),
    lost: z.array(z.string()).optional().describe("What is missing, and why"),
    steps: stepFields.steps.optional(),
    screens: stepFields.screens.optional(),
    test: z.string().optional().describe("The steps as a test in YAML, to be named and imported"),
  }),
  async handle({ input, services, attach }) {
    if (services.steps.has(input.recording_id)) {
      const report = await services.steps.stop(input.recording_id);
      const { recording_id, device_id, ended = "stopped", steps, screens } = report;
      const test = services.appFiles.testOf("recording", steps);
      return { recording_id, device_id, ended, files: [], steps: [...steps], screens: [...screens], test };
    }
    const { frames, lost, files, ...report } = await services.recordings.stop(input.recording_id);
    for (const { kind, uri, mime_type } of files)
      attach({ kind: "link", uri, name: kind, mimeType: mime_type });
    return {
      ...report,
      ...(frames > 0 && { frames }),
      files,
      ...(lost.length > 0 && { lost }),
    };
  },
});

export const readRecording = defineTool({
  name: "read_recording",
  title: "Read recorded steps",
  description: "Steps, screens and proposed checks of a recording of kind steps so far",
  domain: "screen",
  capabilities: ["RECORDING", "TEST_AUTHORING"],
  effect: "read",
  timeoutMs: 60_000,
  input: z.strictObject({
    recording_id: recordingId,
    after: z.int().min(0).optional().describe("Wait for another revision than this"),
    wait_ms: z.int().min(0).max(30_000).default(0),
    point: z.boolean().optional(),
  }),
  unlisted: ["point"],
  output: z.object({
    recording_id: z.string(),
    device_id: z.string(),
    revision: z.int(),
    ended: stepsEnd.optional(),
    pointing: z.boolean(),
    ...stepFields,
  }),
  async handle({ input: { recording_id, ...options }, services, context }) {
    const { steps, screens, ...report } = await services.steps.read(recording_id, options, context.signal);
    return { ...report, steps: [...steps], screens: [...screens] };
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
