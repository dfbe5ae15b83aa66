import { z } from "zod";
import { AgentError, type AgentErrorCode } from "../errors.ts";

/** A reply of the server; `body` is parsed JSON, or undefined. */
export type ServerReply = { status: number; body: unknown };

const errorSchema = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    hint: z.string().default(""),
    details: z.record(z.string(), z.unknown()).default({}),
  }),
});

/** The server's codes that mean the same here, and those that our own callers know by another. */
const codes: Readonly<Record<string, AgentErrorCode>> = {
  ALREADY_EXISTS: "INVALID_INPUT",
  INPUT_TOO_LARGE: "INPUT_TOO_LARGE",
  INVALID_INPUT: "INVALID_INPUT",
  SESSION_BUSY: "SESSION_BUSY",
  SESSION_NOT_FOUND: "SESSION_NOT_FOUND",
};

/** What a good reply says. Throws an AgentError for any other. */
export function answerOf<T>(schema: z.ZodType<T>, reply: ServerReply): T {
  if (reply.status >= 300) throw serverError(reply);
  const { data, error } = schema.safeParse(reply.body);
  if (!error) return data;
  const [issue] = error.issues;
  throw new AgentError(
    "INTERNAL",
    `The server answered in a form of its own: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}.`,
    "Use an agent client and a server of the same build.",
  );
}

/** An error reply as an AgentError: the server's words, and a code that callers of an agent know. */
function serverError({ status, body }: ServerReply): AgentError {
  const told = errorSchema.safeParse(body).data?.error;
  const message = told?.message ?? `The server answered with HTTP status ${status}.`;
  const code = (told && codes[told.code]) ?? codeOf(status);
  const hint = told?.hint || hints[code] || "See the server's log.";
  return new AgentError(code, message, hint, told?.details);
}

const hints: Partial<Record<AgentErrorCode, string>> = {
  SERVER_UNREACHABLE: "Check that the server runs, and that the token is the one in its daemon.json.",
  INPUT_TOO_LARGE: "Send less at a time.",
};

function codeOf(status: number): AgentErrorCode {
  if (status === 413) return "INPUT_TOO_LARGE";
  // The server does not take this client for its own: for its callers it is not there.
  if (status === 401 || status === 403 || status === 502 || status === 503 || status === 504)
    return "SERVER_UNREACHABLE";
  return status >= 500 || status === 404 ? "INTERNAL" : "INVALID_INPUT";
}
