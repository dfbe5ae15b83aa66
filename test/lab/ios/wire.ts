import { z } from "zod";

/** Errors of the wire and their HTTP status: W3C WebDriver, Errors. */
const statuses = {
  "invalid argument": 400,
  "invalid selector": 400,
  "invalid element state": 400,
  "no such element": 404,
  "stale element reference": 404,
  "no such alert": 404,
  "no such context": 400,
  "invalid session id": 404,
  "unknown command": 404,
  "unknown method": 405,
  "session not created": 500,
  "unknown error": 500,
} as const;

export class WireFailure extends Error {
  readonly status: number;

  constructor(
    readonly error: keyof typeof statuses,
    message: string,
  ) {
    super(message);
    this.status = statuses[error];
  }
}

const answered = z.object({ error: z.string(), status: z.number(), message: z.string() });

/** A failure as it is sent; those of the UiAutomator2 stand-in, whose XPath is used here, look alike. */
export function answerTo(cause: unknown): { status: number; value: object } {
  const parsed = answered.safeParse(cause);
  const { error, status, message } = parsed.success
    ? parsed.data
    : { error: "unknown error", status: 500, message: String(cause) };
  const stacktrace = cause instanceof Error ? (cause.stack ?? "") : "";
  return { status, value: { error, message, stacktrace } };
}

/** What a body must be: what does not fit is an invalid argument. */
export function parsed<T>(schema: z.ZodType<T>, body: unknown): T {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  throw new WireFailure("invalid argument", z.prettifyError(result.error));
}

export const elementKey = "element-6066-11e4-a52e-4f735466cecf";
