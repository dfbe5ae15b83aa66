/** Identifiers of RFC 9559 (Matroska) and, from EBML to DocTypeReadVersion, of RFC 8794. */
const ids = {
  EBML: 0x1a45dfa3,
  EBMLVersion: 0x4286,
  EBMLReadVersion: 0x42f7,
  EBMLMaxIDLength: 0x42f2,
  EBMLMaxSizeLength: 0x42f3,
  DocType: 0x4282,
  DocTypeVersion: 0x4287,
  DocTypeReadVersion: 0x4285,
  Segment: 0x18538067,
  SeekHead: 0x114d9b74,
  Seek: 0x4dbb,
  SeekID: 0x53ab,
  SeekPosition: 0x53ac,
  Info: 0x1549a966,
  TimestampScale: 0x2ad7b1,
  Duration: 0x4489,
  MuxingApp: 0x4d80,
  WritingApp: 0x5741,
  Tracks: 0x1654ae6b,
  TrackEntry: 0xae,
  TrackNumber: 0xd7,
  TrackUID: 0x73c5,
  TrackType: 0x83,
  FlagLacing: 0x9c,
  CodecID: 0x86,
  Video: 0xe0,
  PixelWidth: 0xb0,
  PixelHeight: 0xba,
  Cluster: 0x1f43b675,
  Timestamp: 0xe7,
  SimpleBlock: 0xa3,
  Cues: 0x1c53bb6b,
  CuePoint: 0xbb,
  CueTime: 0xb3,
  CueTrackPositions: 0xb7,
  CueTrack: 0xf7,
  CueClusterPosition: 0xf1,
} as const;

/** Eight bytes that say "until the file ends"; the known size of eight bytes begins with the same one. */
const unknownSize = [0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];

/** The header, the same in every file; then the segment's id of four bytes and its size of eight. */
const header = element("EBML", [
  element("EBMLVersion", [uint(1)]),
  element("EBMLReadVersion", [uint(1)]),
  element("EBMLMaxIDLength", [uint(4)]),
  element("EBMLMaxSizeLength", [uint(8)]),
  element("DocType", [Buffer.from("webm")]),
  element("DocTypeVersion", [uint(4)]),
  element("DocTypeReadVersion", [uint(2)]),
]);
const segmentAt = header.length + 12;
const app = Buffer.from("labwright");
/** Track 1, no time relative to the cluster, a key frame. */
const blockHead = Buffer.from([0x81, 0, 0, 0x80]);

export type WebmHead = {
  width: number;
  height: number;
  /** What is known at the end; a file without it can be played, but not sought in. */
  end?: { durationMs: number; cuesAt: number; bytes: number };
};

/** The first bytes of a WebM file with one VP8 track: as many with `end` as without. */
export function webmHead({ width, height, end }: WebmHead): Buffer {
  const segmentSize = end === undefined ? Buffer.from(unknownSize) : uint(end.bytes - segmentAt);
  segmentSize[0] = 0x01;
  const cuesAt = end === undefined ? 0 : end.cuesAt - segmentAt;
  const track = element("TrackEntry", [
    element("TrackNumber", [uint(1)]),
    element("TrackUID", [uint(1)]),
    element("TrackType", [uint(1)]),
    element("FlagLacing", [uint(0)]),
    element("CodecID", [Buffer.from("V_VP8")]),
    element("Video", [element("PixelWidth", [uint(width)]), element("PixelHeight", [uint(height)])]),
  ]);
  return Buffer.concat([
    header,
    idOf("Segment"),
    segmentSize,
    element("SeekHead", [
      element("Seek", [element("SeekID", [idOf("Cues")]), element("SeekPosition", [uint(cuesAt)])]),
    ]),
    element("Info", [
      element("TimestampScale", [uint(1_000_000)]),
      element("Duration", [float(end?.durationMs ?? 0)]),
      element("MuxingApp", [app]),
      element("WritingApp", [app]),
    ]),
    element("Tracks", [track]),
  ]);
}

/** One VP8 key frame, seen from `atMs` on. */
export function webmFrame(atMs: number, vp8: Uint8Array): Buffer {
  return element("Cluster", [element("Timestamp", [uint(atMs)]), element("SimpleBlock", [blockHead, vp8])]);
}

/** Where each frame is, for players to seek by; positions count from the file's first byte. */
export function webmCues(frames: readonly { atMs: number; position: number }[]): Buffer {
  const points = frames.map(({ atMs, position }) =>
    element("CuePoint", [
      element("CueTime", [uint(atMs)]),
      element("CueTrackPositions", [
        element("CueTrack", [uint(1)]),
        element("CueClusterPosition", [uint(position - segmentAt)]),
      ]),
    ]),
  );
  return element("Cues", points);
}

/** The VP8 key frame in a lossy WebP file (RFC 9649, section 2.5). Throws for other files. */
export function vp8Of(webp: Buffer): Buffer {
  // "RIFF", the size, "WEBP"; then chunks of a name, a size and as many bytes, filled up to an even number.
  for (let at = 12; at + 8 <= webp.length; ) {
    const size = webp.readUInt32LE(at + 4);
    if (webp.toString("latin1", at, at + 4) === "VP8 ") return webp.subarray(at + 8, at + 8 + size);
    at += 8 + size + (size % 2);
  }
  throw new Error("The WebP file holds no VP8 key frame");
}

function element(name: keyof typeof ids, parts: readonly Uint8Array[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  // A size of four bytes is marked by the leading 0001 (RFC 8794, section 4).
  const size = Buffer.alloc(4);
  size.writeUInt32BE(0x1000_0000 + length);
  return Buffer.concat([idOf(name), size, ...parts]);
}

function idOf(name: keyof typeof ids): Buffer {
  const hex = ids[name].toString(16);
  return Buffer.from(hex, "hex");
}

function uint(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUIntBE(value, 2, 6);
  return bytes;
}

function float(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes;
}
