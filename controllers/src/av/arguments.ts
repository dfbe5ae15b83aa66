import { leastSeconds } from "./detector.ts";
import { type AvSettings, sourceOf } from "./settings.ts";

/** File descriptors of the program. */
export const pipes = {
  analysis: 1,
  seen: 3,
  pictures: 4,
  heard: 5,
  shown: 6,
  sound: 7,
  recording: 8,
} as const;

/** `copy`: as the source sends it. `encode`: a raw source gets an encoder. */
export type RecordingMode = "copy" | "encode" | undefined;
/** `login`: input options of ffmpeg by which the source lets us in. */
export type Wanted = { hasSound: boolean; recording: RecordingMode; login?: readonly string[] };

/** Protocols that an address may lead to: never to a file. */
const only = (protocols: string) => ["-protocol_whitelist", protocols];
const web = only("http,https,httpproxy,tcp,tls,crypto");
const cameras: Readonly<Record<string, string>> = { darwin: "avfoundation", win32: "dshow" };

/** Only an encoded source can be copied into a file. */
export const isEncoded = (settings: AvSettings): boolean =>
  ["rtsp", "hls", "http", "udp", "srt", "file"].includes(sourceOf(settings).kind);

/**
 * Arguments of ffmpeg: every frame small and gray, some in full as JPEG, what the filters see and hear as lines of text, the sound
 * at 16 kHz, and what a recording keeps, each on a pipe of its own.
 */
export function ffmpegArguments(settings: AvSettings, { hasSound, recording, login = [] }: Wanted): string[] {
  const { audio } = settings;
  const soundInput = typeof audio === "object" ? 1 : 0;
  const graph = [pictureGraph(settings), ...(hasSound ? [soundGraph(settings, soundInput)] : [])];
  const sound = words(`-map [heard] -f null - -map [sound] -c:a pcm_s16le -f s16le pipe:${pipes.sound}`);
  return [
    ...words("-nostdin -hide_banner -nostats -loglevel repeat+level+info -filter_complex_threads 1"),
    ...login,
    ...pictureInput(settings),
    ...(typeof audio === "object" ? soundCard(audio) : []),
    ...["-filter_complex", graph.join(";")],
    ...words(`-map [analysis] -fps_mode passthrough -c:v pgm -f image2pipe pipe:${pipes.analysis}`),
    ...words(`-map [pictures] -fps_mode passthrough -c:v mjpeg -q:v 5 -f image2pipe pipe:${pipes.pictures}`),
    ...(hasSound ? sound : []),
    ...(recording ? recorded(recording, hasSound, soundInput) : []),
  ];
}

const words = (text: string): string[] => text.split(" ");

function recorded(mode: "copy" | "encode", hasSound: boolean, soundInput: number): string[] {
  const encoder = "-c:v libx264 -preset ultrafast -crf 26 -pix_fmt yuv420p -g 50 -c:a aac";
  return [
    ...["-map", "0:v:0", ...(hasSound ? ["-map", `${soundInput}:a:0`] : [])],
    ...words(mode === "copy" ? "-c copy" : encoder),
    ...words(`-flush_packets 1 -f mpegts pipe:${pipes.recording}`),
  ];
}

/** The order of the filters matters: with silencedetect before ebur128, live sources lose the silence. */
function soundGraph({ silence_db }: AvSettings, input: number): string {
  return [
    `[${input}:a:0]asplit[level][voice]`,
    `[level]ebur128=metadata=1,silencedetect=n=${silence_db}dB:d=${leastSeconds.silence},` +
      `astats=metadata=1:reset=1:measure_perchannel=none:measure_overall=Peak_level,${printed("ametadata", pipes.heard)}[heard]`,
    "[voice]aresample=16000:async=1,aformat=sample_fmts=s16:channel_layouts=mono[sound]",
  ].join(";");
}

function pictureGraph(settings: AvSettings): string {
  const { black_level, freeze_db, pictures_per_second } = settings;
  // A frame may come a little early.
  const interval = (0.97 / pictures_per_second).toFixed(4);
  return [
    "[0:v:0]split[small][full]",
    "[small]scale=320:180:force_original_aspect_ratio=decrease:flags=fast_bilinear,format=gray," +
      `blackdetect=d=${leastSeconds.black}:pix_th=${black_level},freezedetect=n=${freeze_db}dB:d=${leastSeconds.freeze},` +
      `scdet=t=10,${printed("metadata", pipes.seen)}[analysis]`,
    `[full]select='isnan(prev_selected_t)+gte(t-prev_selected_t\\,${interval})',` +
      // Without any value, the filter prints no line for a frame.
      `metadata=mode=add:key=full:value=1,${printed("metadata", pipes.shown)}[pictures]`,
  ].join(";");
}

/** Unquoted, the address of the pipe would be the name of a file. */
const printed = (filter: string, pipe: number) => `${filter}=mode=print:file='pipe\\:${pipe}':direct=1`;

const soundCard = (audio: { alsa: string } | { pulse: string }): string[] =>
  "alsa" in audio ? ["-f", "alsa", "-i", audio.alsa] : ["-f", "pulse", "-i", audio.pulse];

function pictureInput(settings: AvSettings): string[] {
  const { kind, value } = sourceOf(settings);
  const { frames_per_second, input_format, size } = settings;
  const shape = [...(size ? ["-video_size", size] : []), ...rate(frames_per_second)];
  const format = input_format ? ["-input_format", input_format] : [];
  const live = ["-analyzeduration", "2000000", "-threads", "1"];
  switch (kind) {
    case "v4l2":
      return ["-f", "v4l2", ...format, ...shape, "-i", value];
    case "camera": {
      const driver = cameras[process.platform];
      if (!driver) return ["-f", "v4l2", ...format, ...shape, "-i", value];
      return ["-f", driver, ...shape, "-i", driver === "dshow" ? `video=${value}` : value];
    }
    case "x11": {
      const x11Shape = [...(size ? ["-video_size", size] : []), ...rate(frames_per_second ?? 25)];
      return ["-f", "x11grab", ...x11Shape, "-i", displayOf(value)];
    }
    case "rtsp":
      return [...only("rtsp,tcp,tls,httpproxy"), ...live, "-rtsp_transport", "tcp", "-i", value];
    case "file":
      return ["-threads", "1", "-stream_loop", "-1", "-re", "-i", value];
    case "args":
      return [...(settings.args ?? [])];
    case "mjpeg":
      // It sends no times: a frame is from when it came.
      return [...web, "-f", "mpjpeg", "-use_wallclock_as_timestamps", "1", "-i", value];
    case "hls":
      // Segments come in bursts: they are read at the pace of their pictures.
      return [...web, ...live, "-re", "-i", value];
    case "http":
      return [...web, ...live, "-i", value];
    default:
      return [...only("udp,rtp,srt"), ...live, "-i", value];
  }
}

const rate = (perSecond: number | undefined) => (perSecond ? ["-framerate", String(perSecond)] : []);

/** The display, by its own name or that of an environment variable. */
const displayOf = (value: string): string => (value.startsWith(":") ? value : (process.env[value] ?? value));
