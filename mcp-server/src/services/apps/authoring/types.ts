import type { Node, Params } from "../../../domain/index.ts";

export type Place = Pick<Node, "label" | "verifications" | "pass_condition">;

/** What a description may name. Without `commands` and `checks`, those of a device, any name is taken. */
export type Vocabulary = {
  places: readonly Place[];
  testcases: readonly string[];
  commands: ReadonlySet<string> | undefined;
  checks: ReadonlySet<string> | undefined;
  /** How names and texts may stand besides in quotes: as several words in a task, as one word in a shell. */
  unquoted?: "words" | "word";
  /** The names of elements and the texts that the app's tree says, which need no quotes. */
  names?: readonly string[];
};
/** Names no nodes and no test cases. */
export const noNames: Vocabulary = { places: [], testcases: [], commands: undefined, checks: undefined };

/** The text of a named part of a phrase in a sentence, without its quotes; empty if it was left out. */
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

/** The meaning of a sentence. Its drafts run one after the other; with `any` the first that passes is enough. */
export type Step = { said: string; drafts: readonly Draft[]; any?: boolean };
export type NotUnderstood = { line: string; reason: string; nearest?: string[] };
export type Reading = { step: Step } | { not: NotUnderstood };
