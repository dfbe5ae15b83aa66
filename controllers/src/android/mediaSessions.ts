/** android.media.session.PlaybackState. */
const states: readonly string[] = [
  ...["none", "stopped", "paused", "playing", "fast forwarding", "rewinding", "buffering", "error"],
  ...["connecting", "skipping back", "skipping on", "skipping"],
];

/**
 * The media sessions of apps, as `dumpsys media_session` lists them. A state is `PlaybackState {state=3, …`, since Android 12
 * also `{state=PLAYING(3), …`; a session without one has played nothing yet.
 */
export function sessionsIn(text: string): { packageName: string; state: string }[] {
  const [, ...parts] = text.split(/^\s*package=/m);
  return parts.map((part) => {
    const number = /PlaybackState ?\{state=(?:\w+\()?(\d+)/.exec(part)?.[1];
    return { packageName: /^[\w.]*/.exec(part)?.[0] ?? "", state: states[Number(number ?? 0)] ?? "unknown" };
  });
}
