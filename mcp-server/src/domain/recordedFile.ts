/** What a recorded file next to a report is, by its ending, the last part of its MIME type. Undefined for any other file. */
export function recordedFile(path: string): { kind: "video" | "trace"; mime_type: string } | undefined {
  const ending = /\.(zip|webm|mp4|mp2t)$/.exec(path)?.[1];
  if (ending === "zip") return { kind: "trace", mime_type: "application/zip" };
  return ending === undefined ? undefined : { kind: "video", mime_type: `video/${ending}` };
}
