import type { CheckOffer, CommandOffer, Moment, Usable } from "@labwright/controllers";
import type { Action, ActionBatch, Failure, Params, Verdict, Verification } from "../../domain/index.ts";
import type { Offer, OfferingDevice, OpenDevice } from "./devices.ts";

export type CommandInfo = { source: Offer; command: CommandOffer };
export type CheckInfo = { source: Offer; check: CheckOffer };

export type ActionResult = {
  command: string;
  phase: "action" | "retry" | "failure";
  ok: boolean;
  /** Number of runs made of an action with `iterator`. */
  runs: number;
  message: string;
  /** The message says what neither the call nor the screen says. */
  isNews?: boolean | undefined;
  duration_ms: number;
  data?: Params | undefined;
  error?: Omit<Failure, "command"> | undefined;
  notices?: string[] | undefined;
};
/**
 * `ok` when the actions passed, or the retry actions did. Failure actions never make a batch ok. `failure` is what ended a
 * batch that is not. `refused` is there when the server answered 4xx or 5xx to the last action, and the check behind the
 * batch is to say whether that is right. `usable` says how long the screen was watched behind the last command; absent for a
 * device that does not say.
 */
export type ActionReport = {
  ok: boolean;
  results: ActionResult[];
  failure?: Failure | undefined;
  refused?: Failure | undefined;
  usable?: Usable;
  /** When the last input event left, where the last command says it. */
  sentAt?: Moment;
};

/** `results` receives each result as it comes, also that of the action in which `signal` aborts. */
export type ActionOptions = {
  variables?: Params;
  signal: AbortSignal;
  isChecked?: boolean;
  results?: ActionResult[];
};

/** What a model may read of commands or checks: a line each, or one with its JSON Schema. */
export type OfferText<Name extends string> = { [name in Name]: string } & { schema?: Params };

export type ActionExecutor = {
  list(device: OpenDevice): readonly CommandInfo[];
  describe(device: OfferingDevice, command: string | undefined): OfferText<"commands">;
  /** Throws ACTION_NOT_FOUND with the nearest names, INVALID_INPUT naming each bad parameter: before anything runs. */
  validate(device: OfferingDevice, actions: readonly Action[]): void;
  /** Validates, then runs. `variables` fill `{{name}}`; secrets are filled in last. `isChecked`: a check of the screen follows. */
  run(device: OpenDevice, batch: ActionBatch, options: ActionOptions): Promise<ActionReport>;
};

/** `failure` is there when it does not pass: why, and whose fault it is by its code. */
export type CheckReport = {
  pass: boolean;
  verdicts: Verdict[];
  failure?: Failure | undefined;
  /** Why it cannot be judged; `failure` is CHECK_INCONCLUSIVE then. */
  inconclusive?: string;
  /** The checks with selectors in place of refs, where that was asked for. */
  lasting?: Verification[];
};
/** When a frame arrived, and how much earlier it may have been: the interval of the frames. */
export type FirstFrame = { at: Moment; errorMs: number } | undefined;
export type VerificationExecutor = {
  list(device: OpenDevice): readonly CheckInfo[];
  describe(device: OfferingDevice, check: string | undefined): OfferText<"checks">;
  validate(device: OfferingDevice, checks: readonly Verification[]): void;
  /**
   * Polls all checks together until they hold or their time is over (`timeout_ms` of a check, else `timeoutMs`). A
   * failed check gets a screenshot as evidence, each the pictures that it judged. Nothing to check: throws INVALID_INPUT,
   * never a pass. A check that stays undecided is a `failure` CHECK_INCONCLUSIVE, unless the other checks decide.
   */
  check(
    device: OpenDevice,
    checks: readonly Verification[],
    options: {
      passCondition: "all" | "any";
      timeoutMs: number;
      variables?: Params;
      signal: AbortSignal;
      evidence?: boolean;
      lasting?: boolean;
      /** Checks of pictures judge this one, once, and not the device: an artifact, or a file of the uploads folder. */
      source?: string | undefined;
    },
  ): Promise<CheckReport>;
  /** When the device first showed what all checks ask for. `measured: false` without frames, or if a check needs more than a picture. */
  firstFrame(
    device: OpenDevice,
    checks: readonly Verification[],
    options: { from: Moment; timeoutMs: number; variables?: Params; signal: AbortSignal },
  ): Promise<{ measured: false } | { measured: true; first: FirstFrame }>;
};
