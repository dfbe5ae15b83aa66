import type { Block, Step } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import { abortEnding, reasonOf } from "../../records/executions/index.ts";
import { classOf, verdictOfClass } from "../../records/verdicts.ts";
import { settled } from "../../values/expressions.ts";
import type { BlockEnd, Frame, PreparedBlock } from "./blocks/block.ts";
import type { FailedStep } from "./types.ts";

type Failed = Extract<BlockEnd, { ok: false }>;
type NewStep = Omit<Step, "index">;

/** Runs one block and records it as a step. `caught`: an edge for failure leaves it. `isLast`: the test ends when it succeeds. */
export async function recordBlock(
  block: Block,
  frame: Frame,
  options: { caught: boolean; isLast: boolean; prepare: () => PreparedBlock },
): Promise<BlockEnd> {
  const { session } = frame;
  const { run } = session;
  run.signal.throwIfAborted();
  const { clock } = session.ports;
  const started = clock.monotonic();
  const pictures = new Pictures(frame);
  const { prepared, end, stoppedMs } = await attempt(block, { ...options, pictures }, session);
  const failure = end.ok || (options.caught && isFalse(block, end)) ? undefined : end;
  const durationMs = clock.monotonic() - started - stoppedMs;
  const step: NewStep = {
    path: `${frame.prefix}${block.id}`,
    kind: block.type,
    label: labelOf(block, prepared),
    status: run.signal.aborted ? abortEnding(run.signal.reason).status : statusOf(failure),
    started_at: new Date(clock.now() - durationMs).toISOString(),
    duration_ms: durationMs,
    input: prepared?.input ?? null,
    output: pictures.noted(end.output),
    notices: [...((end.ok && end.notices) || []), ...pictures.missing],
    ...(failure && { error: errorOf(failure) }),
    artifacts: pictures.artifacts,
  };
  await run.step(step);
  if (failure && !isWithin(session.lastFailure, step.path)) {
    session.lastFailure = failedStep(step, failure);
    session.lastFailureClass = failure.kind;
  }
  run.signal.throwIfAborted();
  return end;
}

const labelOf = (block: Block, prepared: PreparedBlock | undefined) =>
  block.label ?? prepared?.title ?? block.id;

/** `stoppedMs`: how long it waited for a person who goes step by step. */
async function attempt(
  block: Block,
  { prepare, isLast, pictures }: { prepare: () => PreparedBlock; isLast: boolean; pictures: Pictures },
  { run, stops, ports: { clock } }: Frame["session"],
): Promise<{ prepared: PreparedBlock | undefined; end: BlockEnd; stoppedMs: number }> {
  const { signal } = run;
  let prepared: PreparedBlock | undefined;
  let stoppedMs = 0;
  try {
    const ready = await settled(prepare);
    prepared = ready;
    if (stops) {
      const stoppedAt = clock.monotonic();
      await stops.before(labelOf(block, prepared), signal).finally(() => {
        stoppedMs = clock.monotonic() - stoppedAt;
      });
    }
    run.begins(labelOf(block, prepared));
    if (prepared.pictured) await pictures.take("screenshot_before", true);
    signal.throwIfAborted();
    const end = await prepared.run();
    if (prepared.pictured) await pictures.take("screenshot_after", end.ok && !isLast);
    return { prepared, end, stoppedMs };
  } catch (error) {
    const { code, message } = reasonOf(signal.aborted ? signal.reason : error);
    return { prepared, end: { ok: false, output: null, code, message, kind: classOf(code) }, stoppedMs };
  }
}

/** Inside a loop or a called test case, the inner failed step says more. */
const isWithin = (failed: FailedStep | undefined, path: string) =>
  failed !== undefined && (failed.path.startsWith(`${path}/`) || failed.path.startsWith(`${path}[`));

/** A page that gives no picture soon must not delay the verdict. */
const pictureLimitMs = { screenshot_before: 1_000, screenshot_after: 3_000 };
/** A younger picture after a block also serves as the one before the next. */
const sameMomentMs = 100;

const tooLate = (limitMs: number) =>
  new ToolError("COMMAND_TIMEOUT", `There was none within ${limitMs} ms.`, "Look at the step itself.");

class Pictures {
  readonly artifacts: Step["artifacts"] = [];
  /** Why a picture could not be kept, one line each: a fault of the lab that the run's reply must say. */
  readonly missing: string[] = [];
  private readonly faults: string[] = [];

  constructor(private readonly frame: Frame) {}

  /** The output with a note of each picture that could not be taken. */
  noted(output: unknown): unknown {
    if (this.faults.length === 0) return output;
    return {
      ...(typeof output === "object" && output !== null ? output : { value: output }),
      notes: this.faults,
    };
  }

  /** Notes a missing picture in the step, unless the device has no screen. `sparing` skips it on a slow device. */
  async take(kind: "screenshot_before" | "screenshot_after", sparing: boolean): Promise<void> {
    const { session } = this.frame;
    const { run, ports } = session;
    const last = session.lastPicture;
    if (kind === "screenshot_before" && last && ports.clock.monotonic() - last.at <= sameMomentMs) {
      this.artifacts.push({ kind, uri: last.uri, mime_type: last.mime_type });
      return;
    }
    const slowness = sparing ? ports.screen.slowness(run.device.id) : undefined;
    if (slowness !== undefined) {
      if (!session.saidSlow) this.faults.push(slowness);
      session.saidSlow = true;
      return;
    }
    const limit = new AbortController();
    const limitMs = pictureLimitMs[kind];
    const stop = ports.clock.setTimeout(() => limit.abort(tooLate(limitMs)), limitMs);
    try {
      const picture = await ports.screen.capture(run.device, AbortSignal.any([run.signal, limit.signal]));
      if (!picture) return;
      const { uri, mime_type } = picture.artifact;
      this.artifacts.push({ kind, uri, mime_type });
      session.lastPicture = { uri, mime_type, at: ports.clock.monotonic() };
    } catch (error) {
      if (run.signal.aborted) return;
      this.miss(kind, error);
    } finally {
      stop();
    }
  }

  private miss(kind: string, error: unknown): void {
    const { code, message } = reasonOf(error);
    const lines = code === "ARTIFACT_STORE_FULL" ? this.missing : this.faults;
    lines.push(`no ${kind.replace("_", " ")}: ${code}: ${message}`);
  }
}

/** A false condition with an edge for failure has done its work. */
const isFalse = (block: Block, end: Failed) => block.type === "condition" && end.kind === "behaviour";

function statusOf(failure: Failed | undefined): Step["status"] {
  return failure ? verdictOfClass(failure.kind) : "passed";
}

function errorOf({ code, message, detail: { dispatched } = {} }: Failed): NonNullable<Step["error"]> {
  return { code, message, ...(dispatched && { dispatched }) };
}

function failedStep(step: NewStep, end: Failed): FailedStep {
  const { expected, found, nearest, dispatched } = end.detail ?? {};
  return {
    path: step.path,
    label: step.label,
    code: end.code,
    message: end.message,
    ...(expected !== undefined && { expected }),
    ...(found !== undefined && { found }),
    ...(nearest && nearest.length > 0 && { nearest }),
    ...(dispatched && { dispatched }),
    evidence: step.artifacts.filter(({ kind }) => kind === "screenshot_after").map(({ uri }) => uri),
  };
}
