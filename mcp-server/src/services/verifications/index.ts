import { DeviceError, type Reading } from "@labwright/controllers";
import type { Params, Verification } from "../../domain/index.ts";
import { span } from "../../observability/span.ts";
import { checksOf, describeOffers } from "../findCommand.ts";
import type {
  CheckReport,
  Clock,
  OpenDevice,
  ScreenService,
  Secrets,
  VerificationExecutor,
} from "../ports.ts";
import { prepareChecks, type Watched } from "./prepare.ts";

/** Between two looks: short at first, so that a check that holds soon is answered soon; then kinder to the device. */
const firstPauseMs = 25;
const longestPauseMs = 250;
/** A look that begins right before the deadline may still take so long. */
const shortestLookMs = 1_000;

/** What ends a check at once: polling on would only hide it. */
const fatal: ReadonlySet<string> = new Set([
  "DEVICE_LOST",
  "BROWSER_NOT_FOUND",
  "BROWSER_UNUSABLE",
  "INVALID_PARAMS",
  "INVALID_SELECTOR",
  "UNSAFE_DISABLED",
]);

export type VerificationDependencies = { clock: Clock; secrets: Secrets; screen: ScreenService };
type CheckOptions = Parameters<VerificationExecutor["check"]>[2];

export const createVerifications = (dependencies: VerificationDependencies): VerificationExecutor =>
  new Verifications(dependencies);

/** Judges a device by polling single looks to a deadline. Never acts on it. */
class Verifications implements VerificationExecutor {
  private readonly clock: Clock;
  private readonly secrets: Secrets;
  private readonly screen: ScreenService;

  constructor({ clock, secrets, screen }: VerificationDependencies) {
    this.clock = clock;
    this.secrets = secrets;
    this.screen = screen;
  }

  list(device: OpenDevice) {
    return checksOf(device);
  }

  describe(device: OpenDevice, name: string | undefined) {
    const offers = checksOf(device).map(({ kind, check }) => ({ ...check, kind }));
    const { text, schema } = describeOffers(device, offers, name, "check");
    return { checks: text, ...(schema && { schema }) };
  }

  validate(device: OpenDevice, checks: readonly Verification[]): void {
    prepareChecks(device, checks, { variables: undefined, timeoutMs: 0, secrets: this.secrets });
  }

  check(device: OpenDevice, checks: readonly Verification[], options: CheckOptions): Promise<CheckReport> {
    return span("verify", { device: device.id, checks: checks.length }, async () => {
      const { passCondition, timeoutMs, signal } = options;
      const variables: Params = options.variables ?? {};
      const watched = prepareChecks(device, checks, { variables, timeoutMs, secrets: this.secrets });
      const any = passCondition === "any";
      await this.poll(watched, any, signal);
      const verdicts = watched.map(({ verdict }) => verdict);
      const pass = any ? verdicts.some((verdict) => verdict.pass) : verdicts.every((verdict) => verdict.pass);
      const busy = watched.find(({ verdict }) => verdict.error?.startsWith("PAGE_UNRESPONSIVE"));
      if (!pass && busy?.unresponsive) throw busy.unresponsive;
      if (!pass && options.evidence !== false) await this.addEvidence(device, watched, signal);
      return { pass, verdicts };
    });
  }

  private async poll(watched: readonly Watched[], any: boolean, signal: AbortSignal): Promise<void> {
    const started = this.clock.monotonic();
    let pause = firstPauseMs;
    for (;;) {
      signal.throwIfAborted();
      await Promise.all(watched.filter(({ open }) => open).map((one) => this.look(one, started, signal)));
      const waiting = watched.filter(({ open }) => open);
      if (waiting.length === 0 || (any && watched.some(({ verdict }) => verdict.pass))) return;
      const left =
        Math.max(...waiting.map(({ timeoutMs }) => timeoutMs)) - (this.clock.monotonic() - started);
      await this.clock.sleep(Math.max(1, Math.min(pause, left)), signal);
      pause = Math.min(pause * 2, longestPauseMs);
    }
  }

  private async look(watched: Watched, started: number, signal: AbortSignal): Promise<void> {
    const { verdict, offered } = watched;
    verdict.attempts += 1;
    try {
      const input = offered.check.input.strict().parse(this.secrets.fill(watched.params));
      const left = watched.timeoutMs - (this.clock.now() - started);
      this.record(watched, await offered.check.read(input, signal, Math.max(left, shortestLookMs)));
    } catch (error) {
      this.recordError(watched, error, signal);
    }
    verdict.elapsed_ms = this.clock.monotonic() - started;
    watched.open = !verdict.pass && verdict.elapsed_ms < watched.timeoutMs;
  }

  private record(watched: Watched, reading: Reading): void {
    const { verdict, asked } = watched;
    const { mask } = this.secrets;
    verdict.pass = asked.negate ? !reading.holds : reading.holds;
    verdict.expected = mask(asked.negate ? `not: ${reading.expected}` : reading.expected);
    verdict.actual = mask(reading.actual);
    verdict.nearest = mask([...(reading.nearest ?? [])]);
    watched.wasRead = true;
    delete watched.unresponsive;
    delete verdict.error;
  }

  /** A device that could not be read now may be readable at the next look; what cannot get better ends the check. */
  private recordError(watched: Watched, error: unknown, signal: AbortSignal): void {
    const { verdict } = watched;
    if (signal.aborted) throw signal.reason;
    if (!(error instanceof DeviceError) || fatal.has(error.code)) throw error;
    if (error.code === "PAGE_UNRESPONSIVE") {
      // What was read before stands, unless the page has been busy for most of the time.
      watched.unresponsive = error;
      if (watched.wasRead && Number(error.details.busy_ms) < watched.timeoutMs / 2) return;
    }
    verdict.pass = false;
    verdict.error = `${error.code}: ${this.secrets.mask(error.message)}`;
  }

  private async addEvidence(
    device: OpenDevice,
    watched: readonly Watched[],
    signal: AbortSignal,
  ): Promise<void> {
    const picture = await this.screen.capture(device, signal).catch(() => undefined);
    if (!picture) return;
    for (const { verdict } of watched) if (!verdict.pass) verdict.evidence.push(picture.artifact.uri);
  }
}
