import type {
  DeviceFinding,
  FindingKind,
  FindingSource,
  StreamEvent,
  StreamEventKind,
  VideoFrame,
} from "../ports.ts";
import type { Frame } from "../shapes.ts";

const kindOf: Partial<Record<StreamEventKind, FindingKind>> = {
  lost: "no_signal",
  black: "blackscreen",
  freeze: "freeze",
  decoder_error: "macroblocks",
  silence: "audio_loss",
};

type Waiting = { finding: Omit<DeviceFinding, "frame">; seconds: number };

/** Reports events of the stream as findings, each with the picture at its begin or end. */
export class StreamFindings implements FindingSource {
  readonly kinds = Object.values(kindOf);
  readonly #listeners = new Set<(finding: DeviceFinding) => void>();
  readonly #going = new Map<FindingKind, DeviceFinding>();
  readonly #waiting: Waiting[] = [];
  readonly #pictures: (seconds?: number) => readonly VideoFrame[];

  /** `pictures` returns those that the stream shows from a time of its own clock on, oldest first; without a time, all. */
  constructor(pictures: (seconds?: number) => readonly VideoFrame[]) {
    this.#pictures = pictures;
  }

  onFinding(listener: (finding: DeviceFinding) => void): () => void {
    this.#listeners.add(listener);
    for (const finding of this.#going.values()) listener(finding);
    return () => this.#listeners.delete(listener);
  }

  /** `seconds` is when it began or ended, on the stream's own clock. */
  report(event: StreamEvent, seconds: number): void {
    const kind = kindOf[event.kind];
    if (!kind) return;
    const facts = event.facts ? { facts: event.facts } : {};
    const finding = {
      kind,
      state: event.until === undefined ? "began" : "ended",
      at: event.until ?? event.from,
      ...facts,
    } as const;
    this.#waiting.push({ finding, seconds });
    // No picture follows the last one.
    if (event.kind === "lost" && event.until === undefined) this.flush();
    else this.pictured();
  }

  /** Another picture came: reports what waits for it. */
  pictured(): void {
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      const [picture] = this.#pictures(next.seconds);
      if (!picture) return;
      this.#waiting.shift();
      this.#report({ ...next.finding, frame: frameOf(picture) });
    }
  }

  /** Reports what waits, with the last picture that there is. */
  flush(): void {
    for (const { finding, seconds } of this.#waiting.splice(0)) {
      const picture = this.#pictures(seconds)[0] ?? this.#pictures().at(-1);
      this.#report({ ...finding, ...(picture && { frame: frameOf(picture) }) });
    }
  }

  #report(finding: DeviceFinding): void {
    if (finding.state === "began") this.#going.set(finding.kind, finding);
    else this.#going.delete(finding.kind);
    for (const listener of this.#listeners) listener(finding);
  }
}

function frameOf({ bytes, space, arrivedAt }: VideoFrame): Frame {
  const takenAt = new Date(performance.timeOrigin + arrivedAt).toISOString();
  return { ...space, bytes, mimeType: "image/jpeg", takenAt };
}
