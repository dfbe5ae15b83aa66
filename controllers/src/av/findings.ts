import type {
  DeviceFinding,
  FindingKind,
  FindingSource,
  Moment,
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

type Waiting = { finding: Omit<DeviceFinding, "frame">; arrivesAt: Moment };

/** Reports events of the stream as findings, each with the picture at its begin or end. */
export class StreamFindings implements FindingSource {
  readonly kinds = Object.values(kindOf);
  readonly #listeners = new Set<(finding: DeviceFinding) => void>();
  readonly #going = new Map<FindingKind, DeviceFinding>();
  readonly #waiting: Waiting[] = [];
  readonly #pictures: (from: Moment) => readonly VideoFrame[];

  /** `pictures` returns those that arrived at a moment or later, oldest first. */
  constructor(pictures: (from: Moment) => readonly VideoFrame[]) {
    this.#pictures = pictures;
  }

  onFinding(listener: (finding: DeviceFinding) => void): () => void {
    this.#listeners.add(listener);
    for (const finding of this.#going.values()) listener(finding);
    return () => this.#listeners.delete(listener);
  }

  /** `arrivesAt` is when the picture of that moment reaches us. */
  report(event: StreamEvent, arrivesAt: Moment): void {
    const kind = kindOf[event.kind];
    if (!kind) return;
    const facts = event.facts ? { facts: event.facts } : {};
    const finding = {
      kind,
      state: event.until === undefined ? "began" : "ended",
      at: event.until ?? event.from,
      ...facts,
    } as const;
    this.#waiting.push({ finding, arrivesAt });
    // No picture follows the last one.
    if (event.kind === "lost" && event.until === undefined) this.flush();
    else this.pictured();
  }

  /** Another picture came: reports what waits for it. */
  pictured(): void {
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      const [picture] = this.#pictures(next.arrivesAt);
      if (!picture) return;
      this.#waiting.shift();
      this.#tell({ ...next.finding, frame: frameOf(picture) });
    }
  }

  /** Reports what waits, with the last picture that there is. */
  flush(): void {
    for (const { finding, arrivesAt } of this.#waiting.splice(0)) {
      const picture = this.#pictures(arrivesAt)[0] ?? this.#pictures(0).at(-1);
      this.#tell({ ...finding, ...(picture && { frame: frameOf(picture) }) });
    }
  }

  #tell(finding: DeviceFinding): void {
    if (finding.state === "began") this.#going.set(finding.kind, finding);
    else this.#going.delete(finding.kind);
    for (const listener of this.#listeners) listener(finding);
  }
}

function frameOf({ bytes, space, arrivedAt }: VideoFrame): Frame {
  const takenAt = new Date(performance.timeOrigin + arrivedAt).toISOString();
  return { ...space, bytes, mimeType: "image/jpeg", takenAt };
}
