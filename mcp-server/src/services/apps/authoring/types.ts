import type { Node, Params, TestCaseInput } from "../../../domain/index.ts";
import type { CallContext, DeviceRef, DeviceService } from "../../ports.ts";

export type Place = Pick<Node, "label" | "verifications" | "pass_condition">;

/** What a description may name. Without a device any command and check is taken for one it has. */
export type Vocabulary = {
  places: readonly Place[];
  testcases: readonly string[];
  commands: ReadonlySet<string> | undefined;
  checks: ReadonlySet<string> | undefined;
};

/** What a named part of a phrase is in a sentence, without its quotes; empty for one that is left out. */
export type Parts = (name: string) => string;

/** A block without its id, in the form that save_testcase takes. */
export type Draft =
  | { type: "navigation"; target: string }
  | { type: "action"; command: string; params: Params }
  | {
      type: "verification";
      command: string;
      params: Params;
      verification_type?: string;
      negate?: boolean;
      timeout_ms?: number;
    }
  | { type: "sleep"; duration_ms: number }
  | { type: "call_testcase"; testcase: string };

/** What a sentence means. Its drafts run one after the other; with `any` the first that passes is enough. */
export type Step = { said: string; drafts: readonly Draft[]; any?: boolean };
export type NotUnderstood = { line: string; reason: string; nearest?: string[] };
export type Reading = { step: Step } | { not: NotUnderstood };

export type GenerateRequest = DeviceRef & {
  name: string;
  userinterface_name: string;
  /** A step a line or a sentence. */
  description: string;
  save: boolean;
};

/**
 * `steps` are lines: a sentence and what was made of it. `not_understood` are lines too: the sentence, why, and what is
 * nearest. What was understood is only counted, since the whole description is given again.
 */
export type GenerateReply =
  | { saved: true; testcase_id: string; name: string; steps: string }
  | { saved: false; name: string; steps: string; testcase: TestCaseInput }
  | {
      saved: false;
      name: string;
      understood: number;
      not_understood: string[];
    };

export type AuthoringService = {
  /**
   * Makes a test case of a description by exact phrases. Saves it when every sentence is understood; else saves nothing
   * and says which are not, and what is nearest. Throws ALREADY_EXISTS, EMPTY_TEST, TESTCASE_INVALID,
   * USERINTERFACE_NOT_FOUND.
   */
  generate(request: GenerateRequest, context: CallContext): Promise<GenerateReply>;
};

export type AuthoringDependencies = {
  apps: { load(userinterface: string): Promise<{ ui: { name: string }; nodes: ReadonlyMap<string, Place> }> };
  testcases: {
    names(): Promise<string[]>;
    /** Throws ALREADY_EXISTS and what a save throws. */
    createFor(
      testcase: unknown,
      device: DeviceRef,
      context: CallContext,
      save: boolean,
    ): Promise<{ id: string | undefined; testcase: TestCaseInput }>;
  };
  devices: Pick<DeviceService, "offering">;
};
