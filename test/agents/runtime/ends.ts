import type { Outcome, SessionEnded } from "#agent-client/events.ts";

/** How a model's run ended, without a turn. */
export const endOf = (outcome: Outcome): SessionEnded => ({
  type: "session_ended",
  outcome,
  text: "",
  turns: 0,
  duration_ms: 0,
  usage: { input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
});
