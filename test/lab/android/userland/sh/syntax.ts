/** A piece of a word. What is quoted is neither split nor taken as a pattern. */
export type Part =
  | { type: "text"; text: string; quoted: boolean }
  | { type: "variable"; name: string; fallback: string | undefined; quoted: boolean }
  | { type: "substitution"; list: List; quoted: boolean };
export type Word = readonly Part[];

/** `copy` makes the descriptor what the descriptor `target` is, as in `2>&1`. */
export type Redirection = {
  descriptor: number;
  kind: "read" | "write" | "append" | "copy";
  target: Word;
};

export type Stage = {
  assignments: readonly { name: string; value: Word }[];
  words: readonly Word[];
  redirections: readonly Redirection[];
};
export type Pipeline = { stages: readonly Stage[]; isNegated: boolean };
/** `when` says which end of the pipeline before lets this one run. */
export type ListItem = { when: "always" | "success" | "failure"; pipeline: Pipeline; inBackground: boolean };
export type List = readonly ListItem[];

export class ShellSyntaxError extends Error {}
