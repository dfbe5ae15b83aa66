import { z } from "zod";

const url = (schemes: string) =>
  z
    .string()
    .max(2_000)
    .regex(
      new RegExp(`^(?:${schemes})://[^\\s/]`),
      `an address that begins with ${schemes.replace("|", ":// or ")}://`,
    )
    .optional();
const name = z.string().min(1).max(500).optional();

/** How the picture comes to this machine. Exactly one of them is given. */
const sources = {
  v4l2: z
    .string()
    .regex(/^\/dev\/[\w./-]+$/, "a device node such as /dev/video0")
    .optional()
    .describe("Device node of an HDMI capture card, such as /dev/video0."),
  camera: name.describe("A camera that looks at the screen: /dev/video1, or its name on macOS and Windows."),
  x11: z
    .string()
    .regex(
      /^(?::\d+(?:\.\d+)?|[A-Z][A-Z0-9_]*)$/,
      "a display such as :77, or the environment variable that names it",
    )
    .optional()
    .describe("An X display such as :77, or the environment variable that names it."),
  rtsp: url("rtsp|rtsps"),
  hls: url("http|https").describe("Address of an HLS playlist."),
  http: url("http|https").describe("Address of a stream over HTTP, such as MPEG-TS."),
  mjpeg: url("http|https").describe(
    "Address of JPEG pictures over HTTP, as cameras and IP-KVMs send them. It has no sound.",
  ),
  udp: url("udp|rtp").describe("MPEG-TS over UDP, such as udp://0.0.0.0:1234."),
  srt: url("srt"),
  file: name.describe("A video file, played again and again in real time: for trying things out."),
  args: z
    .array(z.string().max(2_000))
    .min(1)
    .max(100)
    .optional()
    .describe(
      "Input arguments of ffmpeg, such as [-f, decklink, -i, Intensity]. Addresses in them are not checked.",
    ),
};
export const sourceNames = [
  "v4l2",
  "camera",
  "x11",
  "rtsp",
  "hls",
  "http",
  "mjpeg",
  "udp",
  "srt",
  "file",
  "args",
] as const;

export const avSettingsSchema = z
  .strictObject({
    ...sources,
    audio: z
      .union([
        z.enum(["source", "none"]),
        z.strictObject({ alsa: z.string().min(1).max(200) }),
        z.strictObject({ pulse: z.string().min(1).max(200) }),
      ])
      .default("source")
      .describe("Where the sound comes from: with the picture (source), a sound card, or none."),
    size: z
      .string()
      .regex(/^\d{2,4}x\d{2,4}$/, "width x height, such as 1920x1080")
      .optional()
      .describe("Of v4l2, camera and x11."),
    frames_per_second: z
      .int()
      .min(1)
      .max(120)
      .optional()
      .describe("Of v4l2, camera and x11. Default of x11: 25."),
    input_format: z
      .string()
      .regex(/^\w+$/)
      .optional()
      .describe("Pixel format or codec of v4l2 and camera, such as mjpeg."),
    pictures_per_second: z
      .int()
      .min(1)
      .max(25)
      .default(5)
      .describe("Full pictures; analysis sees every frame."),
    capture_delay_ms: z
      .number()
      .min(0)
      .max(60_000)
      .default(0)
      .describe("How late a frame arrives here, as measured."),
    capture_delay_error_ms: z.number().min(0).max(60_000).default(200).describe("Error of capture_delay_ms."),
    black_level: z
      .number()
      .min(0)
      .max(1)
      .default(0.08)
      .describe("Pixels up to this luminance (0..1) are black."),
    freeze_db: z
      .number()
      .min(-100)
      .max(0)
      .default(-50)
      .describe("A picture that changes less than this stands still; encoders change one by up to -55."),
    silence_db: z.number().min(-100).max(0).default(-50).describe("Sound below this peak is silence."),
  })
  .refine((settings) => sourceNames.filter((one) => settings[one] !== undefined).length === 1, {
    message: `give exactly one of ${sourceNames.join(", ")}`,
  });
export type AvSettings = z.output<typeof avSettingsSchema>;

export type SourceName = (typeof sourceNames)[number];

/** Which source it is, and what the settings say of it. */
export function sourceOf(settings: AvSettings): { kind: SourceName; value: string } {
  const kind = sourceNames.find((one) => settings[one] !== undefined) ?? "args";
  const value = settings[kind];
  return { kind, value: typeof value === "string" ? value : (value ?? []).join(" ") };
}

/** Device node of a picture that only one process can read; undefined for others. */
export function nodeOf(settings: AvSettings): string | undefined {
  const node = settings.v4l2 ?? settings.camera;
  return node?.startsWith("/dev/") ? node : undefined;
}

export function claimsOf(settings: AvSettings): string[] {
  const node = nodeOf(settings);
  const { audio, udp } = settings;
  return [
    ...(node === undefined ? [] : [`capture:${node}`]),
    ...(typeof audio === "object" && "alsa" in audio ? [`sound:${audio.alsa}`] : []),
    ...(udp === undefined ? [] : [`stream:${udp}`]),
  ];
}

/** An address without the name and password in it: for messages. */
export const masked = (text: string): string => text.replace(/(\w+:\/\/)[^\s/@]+@/g, "$1***@");
