import { z } from "zod";

/** Named JSON values. */
export type Scope = Readonly<Record<string, unknown>>;

/**
 * Evaluates a CEL condition. Anything but true or false, such as a missing field, is `undetermined` with the reason. Must not
 * throw.
 */
export type Evaluate = (condition: string, scope: Scope) => boolean | { undetermined: string };

/** What a step's reply goes through before the engine gets it, in this order. All of it is the caller's work. */
export type ReplyRules = {
  /** Seconds for which the reply may be taken from a cache, with the filled action as its key. */
  cache_ttl?: number | undefined;
  /** A CEL expression over `result` (the raw reply) that gives the reply to use. */
  parser?: string | undefined;
  /** JSON Schema (draft 2020-12) that the reply must meet. The reply of a query is an array of rows. */
  schema?: Record<string, unknown> | undefined;
};

/** SQL and its values. `sql` has $1, $2 …; `pieces` is the SQL around the values, one piece more than `params`. */
export type BoundSql = { sql: string; params: unknown[]; pieces: string[] };

export type SimpleAction =
  | (BoundSql & { type: "query"; source: string; reply: ReplyRules })
  | {
      type: "http";
      source: string;
      method: string;
      /** Appended to the endpoint of the source. Begins with a slash; values in it are percent-encoded. */
      path: string;
      query: Record<string, string>;
      headers: Record<string, string>;
      body?: unknown;
      reply: ReplyRules;
    }
  | { type: "tool"; tool: string; arguments: Record<string, unknown> };
/** An action with all its values. The actions of `parallel` may run at once. */
export type FilledAction = SimpleAction | { type: "parallel"; actions: Record<string, SimpleAction> };

/** An action to run now. `lane` is "main" or the step of a parallel check. */
export type PlannedAction = { lane: string; step: string; action: FilledAction };

/** `value`: rows of a query as an array of objects, the reply of an API, the structured output of a tool. */
export type SimpleResult = { value: unknown } | { error: { code: string; message: string } };
/** How an action ended. `parts`: the results of a `parallel` action, by name. */
export type ActionResult = SimpleResult | { parts: Readonly<Record<string, SimpleResult>> };

/** `at` is in milliseconds since 1970. */
export type TreeInput =
  | { type: "result"; lane: string; step: string; result: ActionResult; at: number }
  | {
      type: "answer";
      /** The id of the handoff. */
      handoff: string;
      /** An option's name, title or number (from 1), or free text of several words. */
      answer: string;
      /** Values that were missing, merged into the context. */
      context?: Scope | undefined;
      at: number;
    };

type ErrorCode = "ALREADY_ANSWERED" | "BAD_STATE" | "NO_HANDOFF" | "NOT_EXPECTED" | "UNKNOWN_OPTION";

/** An input that does not fit the state. The state stays as it was. */
export class TreeError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly hint: string,
  ) {
    super(message);
  }
}

export const handoffTriggers = [
  "low_confidence",
  "stuck_after_steps",
  "contradictory_data",
  "critical_decision",
  /** A pre-condition or every decision is false or cannot be determined, or the action failed. */
  "undetermined",
  /** The path returns to a step that ran twice. */
  "loop",
] as const;

const conclusion = z.object({
  root_cause: z.string().optional(),
  partial_finding: z.string().optional(),
  explanation: z.string().optional(),
  impact: z.string().optional(),
  recommended_action: z
    .object({
      action: z.string(),
      priority: z.string().optional(),
      human_approval_required: z.boolean(),
    })
    .optional(),
  /** Undefined: no person was asked. */
  approved: z.boolean().optional(),
  by: z.enum(["tree", "person"]),
});

const effect = z.discriminatedUnion("do", [
  z.object({ do: z.literal("take"), decision: z.string(), approved: z.boolean().optional() }),
  z.object({ do: z.literal("go"), step: z.string() }),
  z.object({ do: z.literal("cause"), lane: z.string() }),
  z.object({ do: z.literal("accept") }),
  z.object({ do: z.literal("approve"), approved: z.boolean() }),
  z.object({ do: z.literal("stop") }),
]);

const handoff = z.object({
  id: z.string(),
  trigger: z.enum(handoffTriggers),
  /** The step it is about; null when it is about the merged findings. */
  step: z.string().nullable(),
  question: z.string(),
  options: z.array(z.object({ name: z.string(), title: z.string(), effect })),
  asked_at: z.number(),
  answer: z.object({ text: z.string(), option: z.string().nullable(), at: z.number() }).nullable(),
});

const lane = z.object({
  id: z.string(),
  /** The step that runs or waits; null when the path ended. */
  step: z.string().nullable(),
  /** What runs now, with the values that it was given out with; null when the step waits for a person. */
  action: z
    .custom<FilledAction>((value) => typeof value === "object" && value !== null && "type" in value)
    .nullable(),
  /** Runs of each step on this path. */
  visits: z.record(z.string(), z.int()),
  /** Steps since the start or since a person last chose a step. */
  steps_since: z.int(),
  /** The lowest confidence on the path; null before the first decision. */
  confidence: z.number().nullable(),
  conclusion: conclusion.nullable(),
});

const evidence = z.object({
  lane: z.string(),
  step: z.string(),
  /** The step's name for people. */
  name: z.string(),
  kind: z.enum(["root_cause", "partial_finding", "undetermined"]),
  finding: z.string(),
  decision: z.string().nullable(),
  confidence: z.number().nullable(),
  explanation: z.string().optional(),
  impact: z.string().optional(),
  by: z.enum(["tree", "person"]),
  /** The result, cut to what a person reads: 5 rows, 500 letters a text. */
  data: z.unknown(),
  at: z.number(),
});

const history = z.object({
  lane: z.string(),
  from_state: z.string(),
  decision: z.string().nullable(),
  confidence: z.number().nullable(),
  next_step: z.string().nullable(),
  timestamp: z.number(),
});

/** The whole state of an investigation: plain JSON, to be stored as it is. Times are in milliseconds since 1970. */
export const treeStateSchema = z.object({
  format: z.literal(1),
  context: z.record(z.string(), z.unknown()),
  lanes: z.array(lane).min(1),
  /** What conditions see of each step's result, by step. */
  results: z.record(z.string(), z.unknown()),
  history: z.array(history),
  evidence: z.array(evidence),
  /** In order; only the last can be open. */
  handoffs: z.array(handoff),
  /** What a person settled about the merged findings. */
  settled: z.object({
    cause: z.string().optional(),
    accepted: z.boolean().optional(),
    stopped: z.boolean().optional(),
    approved: z.boolean().optional(),
  }),
  started_at: z.number(),
  /** Milliseconds spent waiting for a person. */
  waited_ms: z.number(),
  ended_at: z.number().nullable(),
});

export type TreeState = z.output<typeof treeStateSchema>;
export type Lane = TreeState["lanes"][number];
export type Handoff = TreeState["handoffs"][number];
export type Effect = Handoff["options"][number]["effect"];
export type Conclusion = z.output<typeof conclusion>;
export type Evidence = z.output<typeof evidence>;

/** The names of an investigation's result; `output_format.fields` may name these. */
export const resultFields = [
  "root_cause",
  "evidence",
  "confidence_score",
  "recommended_action",
  "time_to_investigate",
  "steps_completed",
  "explanation",
  "impact",
  "priority",
  "partial_findings",
  "decided_by",
] as const;
