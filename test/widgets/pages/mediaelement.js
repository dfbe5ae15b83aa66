import "mediaelement";
import "mediaelement/build/mediaelementplayer.min.css";

/** Five minutes of silence, eight bits at 8 kHz. */
function silence() {
  const length = 5 * 60 * 8_000;
  const header = new DataView(new ArrayBuffer(28));
  header.setUint32(0, 16, true);
  header.setUint16(4, 1, true);
  header.setUint16(6, 1, true);
  header.setUint32(8, 8_000, true);
  header.setUint32(12, 8_000, true);
  header.setUint16(16, 1, true);
  header.setUint16(18, 8, true);
  header.setUint32(24, length, true);
  const [size, format, data] = [
    new Uint32Array([36 + length]),
    header.buffer.slice(0, 20),
    new Uint8Array(length),
  ];
  return new Blob(["RIFF", size, "WAVEfmt ", format, "data", header.buffer.slice(24), data.fill(128)], {
    type: "audio/wav",
  });
}

const cues = (words) => new Blob([`WEBVTT\n\n00:00.000 --> 05:00.000\n${words}\n`], { type: "text/vtt" });

const video = document.getElementById("player");
const parts = [silence(), cues("Welcome"), cues("Willkommen")];
for (const [i, part] of parts.entries()) video.children[i].src = URL.createObjectURL(part);
video.load();
const player = new window.MediaElementPlayer("player", {
  iconSprite: "/npm/mediaelement/build/mejs-controls.svg",
});
window.oracle = () => ({
  muted: video.muted,
  paused: video.paused,
  subtitles: player.selectedTrack?.srclang ?? "none",
});
