import { z } from "zod";

/**
 * Ids of the Web Fuzzing Commons catalogue (github.com/WebFuzzing/Commons, `fault_categories.json`). It leaves 9xx to each
 * tool; those are ours.
 */
export const faults = {
  F100: "status 500",
  F101: "reply not as the document says",
  F102: "success on invalid input",
  F103: "still there after it was deleted",
  F104: "failed creation left something behind",
  F200: "SQL injection",
  F201: "cross-site scripting: markup is not escaped",
  F202: "server-side request forgery: the server asks an address from a request",
  F203: "a read-only field was set by the caller",
  F204: "others learn whether a protected resource exists",
  F205: "valid credentials answered with 401",
  F206: "missing authorization check",
  F900: "an accepted change is lost",
  F901: "a filter returns what does not match",
  F902: "a page is longer than its limit",
  F903: "a repeated request with one idempotency key had a second effect",
  F904: "a rule of the user does not hold",
} as const;
export type FaultId = keyof typeof faults;
export const faultIds = [
  ...(["F100", "F101", "F102", "F103", "F104"] as const),
  ...(["F200", "F201", "F202", "F203", "F204", "F205", "F206"] as const),
  ...(["F900", "F901", "F902", "F903", "F904"] as const),
] as const satisfies readonly FaultId[];

export const apiFindingSchema = z.object({
  fault: z.enum(faultIds),
  title: z.string(),
  operation: z.string(),
  also: z.array(z.string()).optional().describe("Other operations that show it"),
  at: z.string().describe("Field of the request, path of the reply, or status"),
  expected: z.string(),
  found: z.string(),
  curl: z.string(),
  times: z.int().describe("Requests that showed it"),
  execution_id: z.string(),
});
export type ApiFinding = z.output<typeof apiFindingSchema>;

/** What a run of API tests says at its end. */
export const apiTestResultSchema = z.object({
  api: z.string(),
  seed: z.int().describe("Makes the same values again"),
  base_url: z.string(),
  operations: z.int(),
  tried: z.int().describe("Operations to which a request was sent"),
  requests: z.int(),
  findings: z.array(apiFindingSchema),
  not_reached: z
    .array(z.object({ operation: z.string(), reason: z.string() }))
    .describe("Their good request was not accepted: little is known of them"),
  timing: z
    .array(z.object({ operation: z.string(), n: z.int(), p50: z.int(), p95: z.int(), max: z.int() }))
    .describe("Of successful replies, in ms, slowest first"),
  notes: z.array(z.string()),
  saved: z.array(z.string()).optional().describe("Names of test cases"),
});
export type ApiTestResult = z.output<typeof apiTestResultSchema>;
