export { parseTestcase } from "./parse.ts";
export { createTestcases } from "./testcases.ts";
export type {
  AppsPort,
  ExecuteRequest,
  HttpPort,
  NavigationOutcome,
  NavigationPort,
  NavigationRequest,
  TestcaseDependencies,
  TestcaseReply,
  TestcaseResult,
  TestcaseService,
  TestcaseSummary,
} from "./types.ts";
