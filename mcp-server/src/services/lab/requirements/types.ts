import type { Coverage, Requirement, RequirementPriority, TestCase } from "../../../domain/index.ts";
import type {
  CoverageRows,
  LastRun,
  LinkOutcome,
  NewRequirement,
  RequirementFilter,
  RequirementLine,
  RequirementPatch,
  RequirementRows,
  RunFilter,
  TracedRequirement,
  TracedTest,
} from "../../../storage/index.ts";
import type { Clock } from "../../ports.ts";

export type { RunFilter, TracedRequirement };

export type RequirementDependencies = {
  rows: RequirementRows;
  coverage: CoverageRows;
  /** Throws TESTCASE_NOT_FOUND with the nearest. */
  testcases: { load(nameOrId: string): Promise<Pick<TestCase, "id" | "name" | "source">> };
  /** Throws USERINTERFACE_NOT_FOUND with the nearest. */
  apps: { get(nameOrId: string): Promise<{ name: string }> };
  clock: Clock;
};

export type RequirementInput = Omit<NewRequirement, "id">;
/** What is left out stays; an empty category goes. */
export type RequirementChanges = Omit<RequirementPatch, "category"> & { category?: string | undefined };

/** Counts of links: by coverage, and by the last run of their test cases. Each adds up to the number of links. */
export type CoverageParts = {
  full: number;
  partial: number;
  passed: number;
  /** Or could not be judged. */
  failed: number;
  not_run: number;
};

export type CoverageVerdict = "uncovered" | "not_run" | "failed" | "partial" | "passed";

/** Requirements counted by verdict. Shares are in percent of `n`, rounded down, so that 100 means all; none of nothing. */
export type CoverageCounts = { n: number } & Record<CoverageVerdict, number> & {
    covered_percent?: number;
    passed_percent?: number;
  };

export type CoverageView = Pick<Requirement, "code" | "name" | "priority" | "status"> & {
  verdict: CoverageVerdict;
  parts: CoverageParts;
  /** Those that failed first, then those that have not run. */
  testcases: ({ testcase: string; coverage: Coverage } & Partial<LastRun>)[];
  more: number;
};

export type SummaryView = CoverageCounts & {
  by_priority: ({ priority: RequirementPriority } & CoverageCounts)[];
  by_category: ({ category: string } & CoverageCounts)[];
  /** Of those without a category, if there are any. */
  no_category?: CoverageCounts;
  more: number;
};

export type UncoveredView = {
  no_link: number;
  only_partial: number;
  requirements: (Pick<Requirement, "code" | "name" | "priority" | "category"> & {
    covered: "no" | "only partial";
  })[];
  more: number;
};

export type LinkView = { requirement: string; testcase: string };

/** Requirements are named by code or id, test cases by name or id. An unknown one throws, with the nearest. */
export type RequirementService = {
  /** Without a code, the next of REQ-001, REQ-002 ... Throws ALREADY_EXISTS. */
  create(input: RequirementInput): Promise<Requirement>;
  /** By code; `text` is words that all occur. As many as fit into `maxTokens`, and how many did not. */
  list(
    filter: Omit<RequirementFilter, "words"> & { text?: string | undefined },
    maxTokens: number,
  ): Promise<{ requirements: RequirementLine[]; more: number }>;
  get(requirement: string): Promise<Requirement & { linked: Record<Coverage, number> }>;
  /** Throws ALREADY_EXISTS, INVALID_INPUT when nothing is given. */
  update(requirement: string, changes: RequirementChanges): Promise<Requirement>;
  /** Links, or changes the coverage of a link. */
  link(
    requirement: string,
    testcase: string,
    coverage: Coverage,
  ): Promise<LinkView & { result: LinkOutcome }>;
  unlink(requirement: string, testcase: string): Promise<LinkView & { was_linked: boolean }>;
  ofTestcase(
    testcase: string,
    maxTokens: number,
  ): Promise<{
    testcase: string;
    requirements: Omit<TracedRequirement, "testcase" | "project">[];
    more: number;
  }>;
  /** What these test cases cover, by code; unknown ones cover nothing. */
  requirementsOf(tests: readonly TracedTest[]): Promise<TracedRequirement[]>;
  /** One requirement, whatever its status, judged by the last runs that the filter lets through. */
  coverage(requirement: string, runs: RunFilter, maxTokens: number): Promise<CoverageView>;
  /** All requirements that are not deprecated. `more` are categories. */
  summary(runs: RunFilter, maxTokens: number): Promise<SummaryView>;
  /** Those that are not deprecated and that no test case covers in full, P1 first. */
  uncovered(
    filter: Pick<RequirementFilter, "priority" | "category">,
    maxTokens: number,
  ): Promise<UncoveredView>;
};
