import {
  DeviceError,
  type Moment,
  passes,
  type Reading,
  type VideoFrame,
  withConcealed,
} from "@labwright/controllers";
import type { Failure, Params, Verdict, Verification } from "../../../domain/index.ts";
import { strictOf } from "../../../domain/strictOf.ts";
import { ToolError } from "../../../errors.ts";
import { span } from "../../../observability/span.ts";
import type {
  CheckReport,
  Clock,
  OfferingDevice,
  OpenDevice,
  ScreenService,
  Secrets,
  VerificationExecutor,
} from "../../ports.ts";
import { classOf, stopsPolling } from "../../records/verdicts.ts";
import { settled } from "../../values/expressions.ts";
import { readyToResolve } from "../../values/values.ts";
import { checksOf, describeOffers, findCheck, notOffered } from "../findCommand.ts";
import type { Inputs } from "../inputs.ts";
import { findPort, using } from "../portOf.ts";
import { withLastingSelectors } from "../screen/lasting.ts";
import { type StepWatch, watchStep } from "../watchStep.ts";
import { findFirstFrame } from "./firstFrame.ts";
import { prepareChecks, type Watched } from "./prepare.ts";

/** Pause between two readings: short at first, so that a check that holds soon is answered soon; then kinder to the device. */
const firstPauseMs = 25;
const longestPauseMs = 250;
/** A reading that begins right before the deadline may still take so long. */
const shortestLookMs = 1_000;

/** A page that does not answer gives no picture, and a picture of the page that took its place is not evidence. */
const noPicture: ReadonlySet<string> = new Set(["PAGE_LOST", "PAGE_UNRESPONSIVE"]);

export type VerificationDependencies = {
  clock: Clock;
  secrets: Secrets;
  screen: ScreenService;
  inputs: Pick<Inputs, "latest">;
  /** The picture of an artifact or an upload. */
  pictureOf?(source: string): Promise<VideoFrame>;
};
type CheckOptions = Parameters<VerificationExecutor["check"]>[2];

export const createVerifications = (dependencies: VerificationDependencies): VerificationExecutor =>
  new Verifications(dependencies);

/** Judges a device by polling readings to a deadline. Never acts on it. */
class Verifications implements VerificationExecutor {
  constructor(private readonly deps: VerificationDependencies) {}

  list(device: OpenDevice) {
    return checksOf(device);
  }

  describe(device: OfferingDevice, name: string | undefined) {
    const offers = checksOf(device).map(({ check }) => check);
    const { text, schema } = describeOffers(device, offers, name, "check");
    return { checks: text, ...(schema && { schema }) };
  }

  validate(device: OfferingDevice, checks: readonly Verification[]): void {
    prepareChecks(device, checks, { variables: undefined, timeoutMs: 0, secrets: this.deps.secrets });
  }

  async firstFrame(
    device: OpenDevice,
    checks: readonly Verification[],
    options: Parameters<VerificationExecutor["firstFrame"]>[2],
  ) {
    const { variables = {}, timeoutMs } = options;
    const { secrets, clock } = this.deps;
    const frames = await findPort(device, "frames", options.signal);
    await readyToResolve(checks);
    const watched = await settled(() => prepareChecks(device, checks, { variables, timeoutMs, secrets }));
    if (!frames || watched.some(({ offered }) => !offered.check.byPicture))
      return { measured: false as const };
    const first = await findFirstFrame(watched, { ...options, device, frames, secrets, clock });
    return { measured: true as const, first };
  }

  /** When the last input was sent to the device. Whole milliseconds of an end or beginning are never after it. */
  private lastInput(deviceId: string): Moment {
    const input = this.deps.inputs.latest(deviceId, Number.POSITIVE_INFINITY);
    return input?.sentAt ?? input?.endedAt ?? input?.beganAt ?? 0;
  }

  check(device: OpenDevice, checks: readonly Verification[], options: CheckOptions): Promise<CheckReport> {
    return span("verify", { device: device.id, checks: checks.length }, async () => {
      const { passCondition, timeoutMs, signal } = options;
      const variables: Params = options.variables ?? {};
      await readyToResolve(checks);
      const { secrets } = this.deps;
      const watched = await settled(() => prepareChecks(device, checks, { variables, timeoutMs, secrets }));
      if (options.source !== undefined) return this.judgePicture(device, watched, options, options.source);
      const any = passCondition === "any";
      const lasting = options.lasting && (await withLastingSelectors(device, checks, signal));
      const stepWatch = watchStep(device);
      try {
        await this.poll(device, watched, { any, signal });
        const report = await this.report(device, watched, options, stepWatch);
        return { ...report, ...(lasting && { lasting }) };
      } finally {
        stepWatch.end();
      }
    });
  }

  /** Judges a stored picture once, and not the device. Throws INVALID_INPUT for a check that needs more than a picture. */
  private async judgePicture(
    device: OpenDevice,
    watched: readonly Watched[],
    { passCondition, signal }: CheckOptions,
    source: string,
  ): Promise<CheckReport> {
    const more = watched.filter(({ offered }) => !offered.check.byPicture).map(({ asked }) => asked.command);
    if (more.length > 0 || !this.deps.pictureOf)
      throw new ToolError(
        "INVALID_INPUT",
        `source is a picture, and ${more.join(", ")} needs more than a picture.`,
        "Leave source out to check the device, or use checks of pictures only.",
      );
    const frame = await this.deps.pictureOf(source);
    const started = this.deps.clock.monotonic();
    await Promise.all(watched.map((one) => this.look(device, one, { started, since: 0, signal, frame })));
    for (const { verdict } of watched) verdict.evidence.push(source);
    const stepWatch = watchStep(device);
    try {
      const options = { passCondition, evidence: false, timeoutMs: 0, signal };
      return await this.report(device, watched, options, stepWatch);
    } finally {
      stepWatch.end();
    }
  }

  private async report(
    device: OpenDevice,
    watched: readonly Watched[],
    { passCondition, evidence, signal }: CheckOptions,
    stepWatch: StepWatch,
  ): Promise<CheckReport> {
    const verdicts = watched.map(({ verdict }) => verdict);
    if (evidence !== false) await this.storeJudged(watched);
    const pass =
      passCondition === "any"
        ? verdicts.some((verdict) => verdict.pass)
        : verdicts.every((verdict) => verdict.pass);
    if (pass) return { pass, verdicts };
    if (evidence !== false) await this.addEvidence(device, watched, signal);
    const unsure = inconclusiveOf(watched, passCondition);
    if (unsure) return { pass, verdicts, failure: unsure, inconclusive: unsure.message };
    return { pass, verdicts, failure: await failureOf(watched, stepWatch) };
  }

  private async poll(
    device: OpenDevice,
    watched: readonly Watched[],
    { any, signal }: { any: boolean; signal: AbortSignal },
  ): Promise<void> {
    const started = this.deps.clock.monotonic();
    const firstLook = performance.now();
    let pause = firstPauseMs;
    for (;;) {
      signal.throwIfAborted();
      const since = Math.max(firstLook, this.lastInput(device.id));
      const open = watched.filter((one) => one.open);
      await Promise.all(open.map((one) => this.look(device, one, { started, since, signal })));
      const waiting = watched.filter(({ open }) => open);
      if (waiting.length === 0 || (any && watched.some(({ verdict }) => verdict.pass))) return;
      const left =
        Math.max(...waiting.map(({ timeoutMs }) => timeoutMs)) - (this.deps.clock.monotonic() - started);
      await this.deps.clock.sleep(Math.max(1, Math.min(pause, left)), signal);
      pause = Math.min(pause * 2, longestPauseMs);
    }
  }

  private async look(
    device: OpenDevice,
    watched: Watched,
    {
      started,
      since,
      signal,
      frame,
    }: { started: number; since: Moment; signal: AbortSignal; frame?: VideoFrame },
  ): Promise<void> {
    const { verdict, asked } = watched;
    verdict.attempts += 1;
    try {
      const found = findCheck(device, asked.command, asked.type);
      if (!found) throw notOffered(device, { wanted: asked.command, names: [], what: "check" });
      const { controller, offered: check } = found;
      const input = strictOf(check.input).parse(this.deps.secrets.fill(watched.params));
      const left = watched.timeoutMs - (this.deps.clock.monotonic() - started);
      const ms = Math.max(left, shortestLookMs);
      const read = () =>
        withConcealed(this.deps.secrets.maskValues, () =>
          check.read(input, signal, { ms, since, ...(frame && { frame }) }),
        );
      const reading = await using(device, controller, signal, read);
      this.record(watched, reading, passes(check, input, reading, asked.negate === true));
    } catch (error) {
      this.recordError(watched, error, signal);
    }
    verdict.elapsed_ms = this.deps.clock.monotonic() - started;
    watched.open = !verdict.pass && verdict.elapsed_ms < watched.timeoutMs;
  }

  private record(watched: Watched, reading: Reading, pass: boolean): void {
    const { mask } = this.deps.secrets;
    const { verdict, asked } = watched;
    const { inconclusive, score, area, pictures = [] } = reading;
    watched.unread = undefined;
    watched.pictures = pictures;
    // The opposite would hold, but for the missing subject.
    const isUnjudged = asked.negate === true && !reading.holds && !pass && inconclusive === undefined;
    verdict.pass = pass;
    verdict.expected = mask(asked.negate ? `not: ${reading.expected}` : reading.expected);
    verdict.actual = mask(
      isUnjudged ? `${reading.actual}, and "not" needs what it is about` : reading.actual,
    );
    verdict.nearest = mask([...(reading.nearest ?? [])]);
    if (inconclusive === undefined) watched.wasRead = true;
    watched.isAbsent = reading.missing === "absent";
    for (const key of ["error", "inconclusive", "score", "area"] as const) delete verdict[key];
    if (inconclusive !== undefined) verdict.inconclusive = mask(inconclusive);
    if (score !== undefined) verdict.score = score;
    if (area) verdict.area = area;
  }

  /** A device that could not be read now may be readable at the next try; a failure that cannot get better ends the check. */
  private recordError(watched: Watched, error: unknown, signal: AbortSignal): void {
    if (signal.aborted) throw signal.reason;
    if (!(error instanceof DeviceError) || stopsPolling(error.code)) throw error;
    // What was read before stands, unless the page has been busy for most of the time.
    const isShort = watched.wasRead && Number(error.details.busy_ms) < watched.timeoutMs / 2;
    if (error.code === "PAGE_UNRESPONSIVE" && isShort) return;
    // A page that was replaced because it did not answer: the first of the two says more.
    if (error.code === "PAGE_LOST" && watched.unread?.code === "PAGE_UNRESPONSIVE") return;
    watched.unread = error;
    const { verdict } = watched;
    verdict.pass = false;
    delete verdict.inconclusive;
    verdict.error = `${error.code}: ${this.deps.secrets.mask(error.message)}`;
  }

  private async storeJudged(watched: readonly Watched[]): Promise<void> {
    for (const { verdict, pictures = [] } of watched)
      for (const picture of pictures) verdict.evidence.push((await this.deps.screen.store(picture)).uri);
  }

  private async addEvidence(
    device: OpenDevice,
    watched: readonly Watched[],
    signal: AbortSignal,
  ): Promise<void> {
    if (watched.every(({ unread }) => unread !== undefined && noPicture.has(unread.code))) return;
    const picture = await this.deps.screen.capture(device, signal).catch(() => undefined);
    if (!picture) return;
    for (const { verdict } of watched) if (!verdict.pass) verdict.evidence.push(picture.artifact.uri);
  }
}

/** Checks that did not pass are undecided by one that is inconclusive, unless all were to hold and another one does not. */
function inconclusiveOf(
  watched: readonly Watched[],
  passCondition: CheckOptions["passCondition"],
): Failure | undefined {
  const unsure = watched.find(({ verdict }) => verdict.inconclusive !== undefined);
  if (!unsure || (passCondition === "all" && watched.some(hasFailed))) return undefined;
  const { command, expected, inconclusive: reason = "" } = unsure.verdict;
  const message = `cannot judge whether ${expected}: ${reason}`;
  return { code: "CHECK_INCONCLUSIVE", message, command, expected, found: reason };
}

const hasFailed = ({ verdict }: Watched): boolean => !verdict.pass && verdict.inconclusive === undefined;

/** Why checks did not hold. A wrong value is a failure. Where nothing was read, the cause may be around it and is thrown. */
async function failureOf(watched: readonly Watched[], stepWatch: StepWatch): Promise<Failure> {
  const missed = watched.filter(hasFailed);
  const wrong = missed.find(({ unread, isAbsent }) => !unread && !isAbsent);
  const decisive = wrong ?? missed[0];
  if (!decisive) return { code: "VERIFICATION_FAILED", message: "its checks did not hold" };
  const { verdict, timeoutMs } = decisive;
  const failure = failedCheck(verdict);
  if (wrong) return failure;
  const unread = decisive.unread ?? new DeviceError("ELEMENT_NOT_FOUND", failure.message);
  const cause = await stepWatch.judge(unread, timeoutMs);
  const isOfApp = cause instanceof Error && "code" in cause && classOf(String(cause.code)) === "behaviour";
  if (!isOfApp) throw cause;
  return failure;
}

function failedCheck({ command, expected, actual, error, nearest }: Verdict): Failure {
  const found = error ?? actual;
  const near = nearest.length > 0 ? `; nearest: ${nearest.join(", ")}` : "";
  const message = `expected ${expected}; found ${found}${near}`;
  return { code: "VERIFICATION_FAILED", message, command, expected, found, ...(near && { nearest }) };
}
