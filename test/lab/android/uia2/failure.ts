/** Errors of the wire and their HTTP status: W3C WebDriver, Errors. */
const statuses = {
  "invalid argument": 400,
  "invalid selector": 400,
  "invalid element state": 400,
  "no such element": 404,
  "stale element reference": 404,
  "no such alert": 404,
  "invalid session id": 404,
  "unknown command": 404,
  "session not created": 500,
  "unable to capture screen": 500,
  "unknown error": 500,
} as const;

export class Uia2Failure extends Error {
  readonly status: number;

  constructor(
    readonly error: keyof typeof statuses,
    message: string,
  ) {
    super(message);
    this.status = statuses[error];
  }
}
