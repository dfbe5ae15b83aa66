import type { Model, ModelRequest, Turn } from "./model.ts";

/** A turn, or a function that makes one from what the model was asked. */
export type ScriptedTurn = Turn | ((request: ModelRequest) => Turn);

/** A model that says what its script says, for tests and for replays without a model. Throws when the script is over. */
export function scriptedModel(
  script: readonly ScriptedTurn[],
): Model & { requests: readonly ModelRequest[] } {
  const requests: ModelRequest[] = [];
  return {
    requests,
    async complete(request, signal) {
      signal.throwIfAborted();
      const next = script[requests.length];
      requests.push({ ...request, messages: [...request.messages] });
      if (!next) throw new Error(`The script has ${script.length} turns and was asked for one more.`);
      return typeof next === "function" ? next(request) : next;
    },
  };
}

/** A turn that ends the conversation. */
export const says = (text: string): Turn => ({ text, toolUses: [], stop: "end_turn" });

/** A turn that calls one tool. */
export const calls = (name: string, input: Record<string, unknown>, id = `use-${name}`): Turn => ({
  text: "",
  toolUses: [{ id, name, input }],
  stop: "tool_use",
});
