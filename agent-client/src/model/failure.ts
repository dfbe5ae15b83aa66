import { APIConnectionError, APIError } from "@anthropic-ai/sdk";
import { AgentError, type AgentErrorCode } from "../errors.ts";

/** Why a model did not answer. `again`: it may answer the same request. Another model may always. */
export type ModelFailure = { error: AgentError; again: boolean };

const connectHint =
  "Check the network and ANTHROPIC_BASE_URL or agents.models[].base_url, then send it again.";

const failed = (code: AgentErrorCode, message: string, hint: string, again = false): ModelFailure => ({
  error: new AgentError(code, message, hint),
  again,
});

/** Reads what the SDK throws, after its own retries. */
export function failureOf(error: unknown, model: string): ModelFailure {
  if (error instanceof AgentError) return { error, again: false };
  if (error instanceof APIConnectionError)
    return failed("MODEL_FAILED", `${model} cannot be reached: ${error.message}`, connectHint, true);
  if (error instanceof APIError) return ofStatus(error, model);
  const message = error instanceof Error ? error.message : String(error);
  const hint = "Nothing that it asked for was run. Send it again, or name another model in agents.models.";
  return failed("MODEL_FAILED", `The answer of ${model} broke off or cannot be read: ${message}`, hint, true);
}

/** An error that comes as an event of a stream has no status: then its type says as much. */
function ofStatus(error: APIError, model: string): ModelFailure {
  const { status, type } = error;
  if (status === 401 || status === 403 || type === "authentication_error")
    return failed("API_KEY_INVALID", `The key for ${model} is refused.`, "Set a valid ANTHROPIC_API_KEY.");
  if (status === 404 || type === "not_found_error")
    return failed("MODEL_NOT_FOUND", `The endpoint has no ${model}.`, "Set DEFAULT_MODEL or agents.models.");
  if (status === 429 || type === "rate_limit_error")
    return failed("RATE_LIMITED", `${model} takes no more requests for now.`, waitHint(error));
  if (status === 529 || status === 503 || type === "overloaded_error")
    return failed("MODEL_OVERLOADED", `${model} is overloaded.`, waitHint(error), status === undefined);
  const said = error.apiMessage ?? error.message;
  if (status === 400 || status === 413) return ofRequest(status, said, model);
  const isServer = status === undefined || status >= 500;
  return failed("MODEL_FAILED", `${model} refused or failed: ${said}`, connectHint, isServer);
}

/** What the API says of a request that it does not take. Its code is stable, its words are not: they are only shown. */
function ofRequest(status: 400 | 413, said: string, model: string): ModelFailure {
  if (status === 413 || /prompt is too long|context (length|window)/i.test(said)) {
    const hint = "Begin another conversation, or name a model with a longer context in agents.models.";
    return failed("CONTEXT_FULL", `The conversation is longer than ${model} can read: ${said}`, hint);
  }
  const hint =
    "Correct what it names: in agents.models, in the skill, or in what was sent. The same request will fail again.";
  const message = `${model} refused the request: ${said}`;
  return { error: new AgentError("MODEL_FAILED", message, hint, { status }), again: false };
}

/** Whether the API does not take a request as it is, so that another form of it may be taken. */
export const isRefusedRequest = (error: unknown): boolean =>
  error instanceof AgentError && error.code === "MODEL_FAILED" && error.details.status === 400;

/** Whether the API refused thinking because the conversation before it is not what it was. */
export const isForeignThinking = (error: unknown): boolean =>
  error instanceof APIError &&
  error.status === 400 &&
  /thinking.*bound to a different conversation/is.test(error.message);

function waitHint({ headers }: APIError): string {
  const seconds = Number(headers?.get("retry-after"));
  const wait = seconds > 0 ? `Wait ${seconds} s` : "Wait a while";
  return `${wait} and send it again, or name a further model in agents.models.`;
}
