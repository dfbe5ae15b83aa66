/** What a run said when it did not pass. */
export type Failure = { code: string; message: string; found?: string | undefined };

/** The failure modes of seed 001 that can be read from a run's own record. `fault`: who must act. */
export type Cause = { code: string; fault: "app" | "test" | "lab" };

const known: readonly [code: string, fault: Cause["fault"], of: readonly string[]][] = [
  ["STALE_SELECTOR", "test", ["ELEMENT_NOT_FOUND", "STALE_REF", "ELEMENT_AMBIGUOUS", "INVALID_SELECTOR"]],
  ["ENVIRONMENT_UNSTABLE", "lab", ["ENVIRONMENT_SLOW", "PAGE_LOST", "PAGE_UNRESPONSIVE", "DEVICE_LOST"]],
  ["ENVIRONMENT_MISMATCH", "lab", ["APP_UNREACHABLE", "URL_DENIED", "NAVIGATION_FAILED"]],
  ["BROWSER_MISSING", "lab", ["BROWSER_NOT_FOUND", "BROWSER_UNUSABLE", "DEVICE_NOT_FOUND"]],
  ["WRONG_TEST_DATA", "test", ["UNKNOWN_VARIABLE", "INVALID_INPUT", "TESTCASE_INVALID", "FILE_NOT_FOUND"]],
  ["WRONG_TEST_DATA", "test", ["SECRET_NOT_FOUND", "INVALID_PARAMS"]],
  ["OUTDATED_ASSUMPTION", "test", ["TESTCASE_NOT_FOUND", "NODE_NOT_FOUND", "USERINTERFACE_NOT_FOUND"]],
];

const refusedConnection = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|certificate|could not be reached|fetch failed/i;
const schemaBroken = /\$[\w.[\]*]* must |json_schema|does not fit (?:the|its) schema|content.type/i;
const statusIs = (status: string, { message, found = "" }: Failure) =>
  new RegExp(`\\b${status}\\b`).test(`${found} ${message.split("Repeat it with:")[0] ?? ""}`);

/** The class of a failure: of the seed's failure modes where it is one, else its own code as a fault of the app. Pure. */
export function causeOf(failure: Failure, { isApi }: { isApi: boolean }): Cause {
  const { code, message, found = "" } = failure;
  const [cause, fault] = known.find(([, , of]) => of.includes(code)) ?? [];
  if (cause && fault) return { code: cause, fault };
  if (refusedConnection.test(message)) return { code: "ENVIRONMENT_MISMATCH", fault: "lab" };
  if (!isApi) return { code, fault: "app" };
  if (statusIs("401", failure)) return { code: "AUTH_EXPIRED", fault: "lab" };
  if (statusIs("(?:400|422)", failure)) return { code: "WRONG_TEST_DATA", fault: "test" };
  if (schemaBroken.test(`${message} ${found}`)) return { code: "BROKEN_CONTRACT", fault: "app" };
  return { code, fault: "app" };
}
