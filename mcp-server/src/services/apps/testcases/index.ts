export { allBlocks } from "./graph.ts";
export { testNameOf } from "./parse.ts";
export { codeOf } from "./problems.ts";
export { testcaseEnd } from "./replies.ts";
export { createTestcases } from "./testcases.ts";
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
  TestcaseService,
  TestcaseSummary,
  TestKeeper,
} from "./types.ts";
export { contentOf } from "./validate.ts";
