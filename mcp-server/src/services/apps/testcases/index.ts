export { allBlocks } from "./graph.ts";
export { codeOf, testNameOf } from "./parse.ts";
export { testcaseEnd } from "./replies.ts";
export { createTestcases, type TestcaseService } from "./testcases.ts";
export type {
  AppsPort,
  ExecuteRequest,
  HttpPort,
  ImportOptions,
  ListedProblem,
  NavigationOutcome,
  NavigationPort,
  NavigationRequest,
  TestcaseDependencies,
  TestcaseEnd,
  TestcaseReply,
  TestcaseResult,
  TestcaseSummary,
  TestKeeper,
  UnsavedRequest,
} from "./types.ts";
export { contentOf } from "./validate.ts";
