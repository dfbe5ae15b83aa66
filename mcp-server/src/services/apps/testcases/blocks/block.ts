import type { Block, Failure, Params } from "../../../../domain/index.ts";
import type { AllowedRequest, Connections, Cookies } from "../../../policy/allowedFetch.ts";
import type { Run } from "../../../ports.ts";
import type { FailureClass } from "../../../records/verdicts.ts";
import type { AppView } from "../../userinterfaces/index.ts";
import { type Types, withTypes } from "../scope.ts";
import type { BlockPorts, Called, FailedStep } from "../types.ts";

/** `detail` is what a failed check says for the report, `notices` what a passed block has to say. */
export type BlockEnd =
  | { ok: true; output: unknown; notices?: readonly string[] }
  | {
      ok: false;
      output: unknown;
      code: string;
      message: string;
      kind: FailureClass;
      detail?: Pick<FailedStep, "expected" | "found" | "nearest" | "dispatched">;
    };

/** How a graph ended: at its success, or with what stopped it. */
export type GraphEnd = { ok: true } | { ok: false; kind: FailureClass; code: string; message: string };

/** A block that is about to run: `input` as recorded, with placeholders filled in and secrets not. */
export type PreparedBlock = {
  input: unknown;
  /** Shown before and after as pictures. */
  pictured?: true;
  /** A name for reports, when the block has no label. */
  title: string;
  run(): Promise<BlockEnd>;
};

export type Session = {
  run: Run;
  ports: BlockPorts;
  called: Called;
  /** Counts checks that were made; one by default. */
  verified(count?: number): void;
  /** Set if a person goes through the run step by step. */
  stops?: { before(step: string, signal: AbortSignal): Promise<void> } | undefined;
  app(userinterface: string): Promise<AppView>;
  cookies: Cookies;
  connections: Connections;
  /** Where the run tests, and whether it may change data in production. */
  place: Pick<AllowedRequest, "environment" | "grant">;
  /** Outputs of requests: a condition on one of them is a check. */
  answers: WeakSet<object>;
  /** Given at execution; overrides the app of test cases. */
  userinterfaceOverride: string | undefined;
  lastFailure: FailedStep | undefined;
  lastFailureClass: FailureClass | undefined;
  /** The server answered 4xx or 5xx to the block before; the check that runs now decides whether that is right. */
  refused: Failure | undefined;
  /** A step already says why pictures are missing. */
  saidSlow: boolean;
  /** The latest picture of the device, taken `at` (milliseconds since the epoch). */
  lastPicture: { uri: string; mime_type: string; at: number } | undefined;
};

/** One test case in a run: its data, and its place in the run. */
export type Frame = {
  session: Session;
  userinterface: string | undefined;
  /** Inputs, variables, `loop`, the app's variables, and `{output}` under each block's id. */
  scope: Params;
  types: Types;
  /** In front of block ids in step paths; ends with `/` or is empty. */
  prefix: string;
  depth: number;
};

export type BlockOf<Type extends Block["type"]> = Extract<Block, { type: Type }>;

export const broken = (code: string, message: string, output: unknown = null): BlockEnd => ({
  ok: false,
  output,
  code,
  message,
  kind: "broken",
});

/** Assigns all variables, or none if one has the wrong type: then the end of the block. */
export function assign(values: Params, { scope, types }: Frame, output: unknown): BlockEnd | undefined {
  const typed = withTypes(values, types);
  const [first] = typed.problems;
  if (!first) return void Object.assign(scope, typed.values);
  const [name, problem] = first;
  const [expected = "", found = ""] = problem.split("; found ");
  return {
    ok: false,
    output,
    code: "VERIFICATION_FAILED",
    message: `${name}: ${problem}`,
    kind: "behaviour",
    detail: { expected: `${name}: ${expected}`, found },
  };
}
