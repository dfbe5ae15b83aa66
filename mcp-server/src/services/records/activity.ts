import type { Step, StepActivity } from "../../domain/index.ts";
import type { Clock, OpenDevice } from "../ports.ts";

const isFault = ({ status }: Pick<Step, "status">): boolean =>
  status === "failed" || status === "error" || status === "timeout";

/** Gives each failed step of one run what its device logged and requested since the action before it, and nothing twice. */
export class ActivityOfSteps {
  private readUntil = Number.NEGATIVE_INFINITY;
  /** When the last step began that was not a check: what it led to may come while later checks wait. */
  private actedAt = Number.POSITIVE_INFINITY;

  constructor(
    private readonly device: OpenDevice,
    private readonly clock: Clock,
  ) {}

  /** Called when a step has ended. Undefined if it passed, or there is nothing. */
  async of(step: Pick<Step, "status" | "kind" | "duration_ms">): Promise<StepActivity | undefined> {
    const now = this.clock.monotonic();
    const began = now - step.duration_ms;
    const from = Math.max(this.readUntil, Math.min(began, this.actedAt));
    if (step.kind !== "verification") this.actedAt = began;
    if (!isFault(step)) return undefined;
    this.readUntil = now;
    const sources = this.device.controllers
      .filter(this.device.isOpen)
      .flatMap(({ activity }) => activity ?? []);
    const found = await Promise.all(sources.map((source) => source.recent(now - from)));
    const console = found.flatMap((one) => [...one.console]);
    const requests = found.flatMap((one) => [...one.requests]);
    return console.length + requests.length === 0 ? undefined : { console, requests };
  }
}
