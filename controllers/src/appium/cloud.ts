import { z } from "zod";
import { type CloudSession, type Command, defineCommand, type Withheld } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import type { AppiumDevice } from "./device.ts";
import { type Preset, reportOf, verdictScript } from "./presets.ts";

/** Clouds show one line of it. */
const longestReason = 250;
const noCloud = "controllers.appium.preset names no cloud that accepts a verdict.";

const whyNoVerdict = (preset: Preset | undefined): string | undefined =>
  preset?.verdict === undefined ? (preset?.noVerdict ?? noCloud) : undefined;

type Verdict = { status: "passed" | "failed"; reason: string };

/** The cloud that a device is in: where it shows the session, and the verdict reported to it. */
export class Cloud implements CloudSession {
  readonly #device: AppiumDevice;
  readonly #preset: Preset | undefined;
  /** The session whose verdict is final. */
  #settled: string | undefined;

  constructor(device: AppiumDevice, preset: Preset | undefined) {
    this.#device = device;
    this.#preset = preset;
  }

  link(): string | undefined {
    const session = this.#device.findSessionId();
    return session === undefined || this.#preset === undefined ? undefined : reportOf(this.#preset, session);
  }

  async reportVerdict(verdict: Verdict, signal: AbortSignal): Promise<void> {
    const session = this.#device.findSessionId();
    if (session === undefined || session === this.#settled || whyNoVerdict(this.#preset)) return;
    await this.#report(verdict, signal);
    if (verdict.status === "failed") this.#settled = session;
  }

  /** An explicit verdict of a test, which overrides automatic ones. Throws ACTION_REJECTED without a cloud. */
  async mark(verdict: Verdict, signal: AbortSignal): Promise<void> {
    const why = whyNoVerdict(this.#preset);
    if (why !== undefined) throw new DeviceError("ACTION_REJECTED", `${why} Leave it out.`);
    await this.#report(verdict, signal);
    this.#settled = this.#device.findSessionId();
  }

  async #report({ status, reason }: Verdict, signal: AbortSignal): Promise<void> {
    const script = this.#preset && verdictScript(this.#preset, status, reason.slice(0, longestReason));
    await this.#device.call("executeScript", [script, []], signal);
  }
}

const name = "mark_session";
const input = z.strictObject({
  status: z.enum(["passed", "failed"]),
  reason: z.string().max(longestReason).default(""),
});

export function verdictCommands(cloud: Cloud): Command[] {
  return [
    defineCommand<typeof input>({
      name,
      description:
        "Reports to the device cloud whether the test passed, instead of the verdict that each test case reports at its end.",
      effect: "write",
      input,
      async run(verdict, signal) {
        await cloud.mark(verdict, signal);
        return { message: `reported to the cloud that the test ${verdict.status}` };
      },
    }),
  ];
}

export function withheldVerdict(preset: Preset | undefined): Withheld[] {
  const reason = whyNoVerdict(preset);
  return reason === undefined ? [] : [{ name, reason }];
}
