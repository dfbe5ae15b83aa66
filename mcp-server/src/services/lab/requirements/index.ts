import { randomUUID } from "node:crypto";
import { nearest } from "@labwright/controllers";
import type { Coverage, Requirement, TestCase } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import type {
  CoverageRows,
  NewRequirement,
  RequirementFilter,
  RequirementPatch,
  RequirementRows,
  RunFilter,
  TracedTest,
} from "../../../storage/index.ts";
import type { Clock } from "../../ports.ts";
import { storableText } from "../../records/executions/storable.ts";
import { pageOf } from "../../values/pages.ts";
import { mapStrings } from "../../values/strings.ts";
import { coverageView, summaryView, uncoveredView, verdictsOf } from "./views.ts";

type RequirementDependencies = {
  rows: RequirementRows;
  coverage: CoverageRows;
  /** Throws TESTCASE_NOT_FOUND with the nearest. */
  testcases: { load(nameOrId: string): Promise<Pick<TestCase, "id" | "name" | "source">> };
  /** Throws USERINTERFACE_NOT_FOUND with the nearest. */
  apps: { get(nameOrId: string): Promise<{ name: string }> };
  clock: Clock;
};

type ListFilter = Omit<RequirementFilter, "words"> & { text?: string | undefined; judged?: boolean };

/** Requirements are named by code or id, test cases by name or id. An unknown one throws, with the nearest. */
export type RequirementService = ReturnType<typeof createRequirements>;

export const createRequirements = (deps: RequirementDependencies) => ({
  ...keeping(deps),
  ...linking(deps),
  ...judging(deps),
});

function keeping({ rows, coverage, clock }: RequirementDependencies) {
  return {
    /** Without a code, the next of REQ-001, REQ-002 ... Throws ALREADY_EXISTS. */
    async create(input: Omit<NewRequirement, "id">) {
      const requirement = { id: randomUUID(), ...storableTexts(input) };
      const stored = await rows.insert(requirement, nowOf(clock));
      if (!stored) throw taken(input.code, "Choose another code, or leave it out and get the next free one.");
      return stored;
    },
    /** By code; `text` is words that all occur. `judged`: with the verdict of each that is not deprecated. */
    async list({ text = "", judged = false, ...filter }: ListFilter, maxTokens: number) {
      const words = text.split(/\s+/u).filter(Boolean);
      const found = await rows.list(storableTexts({ ...filter, words }));
      const verdicts = verdictsOf(judged ? await coverage.of(undefined, {}) : []);
      const lines = found.map((line) => {
        const verdict = verdicts.get(line.code);
        return { ...line, ...(verdict && { verdict }) };
      });
      const { items, more } = pageOf(lines, 0, maxTokens);
      return { requirements: items, more };
    },
    async get(ref: string) {
      const requirement = await getRequirement(rows, ref);
      return { ...requirement, linked: await rows.linked(requirement.id) };
    },
    /** What is left out stays; an empty category goes. Throws ALREADY_EXISTS, INVALID_INPUT when nothing is given. */
    async update(
      ref: string,
      { category, ...patch }: Omit<RequirementPatch, "category"> & { category?: string | undefined },
    ) {
      const { id } = await getRequirement(rows, ref);
      const changes = {
        ...storableTexts(patch),
        ...(category !== undefined && { category: category === "" ? null : storableText(category) }),
      };
      if (Object.values(changes).every((value) => value === undefined)) throw nothingGiven();
      const updated = await rows.update(id, changes, nowOf(clock));
      if (!updated) throw taken(patch.code, "Choose another code.");
      return updated;
    },
  };
}

function linking({ rows, testcases, clock }: RequirementDependencies) {
  const both = async (requirement: string, testcase: string) => ({
    requirement: await getRequirement(rows, requirement),
    testcase: await testcases.load(storableText(testcase)),
  });
  return {
    /** Links, or changes the coverage of a link. */
    async link(requirementRef: string, testcaseRef: string, coverage: Coverage) {
      const { requirement, testcase } = await both(requirementRef, testcaseRef);
      const result = await rows.link(requirement.id, testcase.id, coverage, nowOf(clock));
      return { requirement: requirement.code, testcase: testcase.name, result };
    },
    async unlink(requirementRef: string, testcaseRef: string) {
      const { requirement, testcase } = await both(requirementRef, testcaseRef);
      const was_linked = await rows.unlink(requirement.id, testcase.id);
      return { requirement: requirement.code, testcase: testcase.name, was_linked };
    },
    async ofTestcase(testcaseRef: string, maxTokens: number) {
      const { name, source } = await testcases.load(storableText(testcaseRef));
      const lines = (await rows.requirementsOf([{ name, project: source.project }])).map(
        ({ testcase: _t, project: _p, ...line }) => line,
      );
      const { items, more } = pageOf(lines, 0, maxTokens);
      return { testcase: name, requirements: items, more };
    },
    /** What these test cases cover, by code; unknown ones cover nothing. */
    requirementsOf: (tests: readonly TracedTest[]) => rows.requirementsOf(tests),
  };
}

function judging({ rows, coverage, apps }: RequirementDependencies) {
  async function runsOf({ userinterface, ...runs }: RunFilter): Promise<RunFilter> {
    if (userinterface === undefined) return storableTexts(runs);
    const { name } = await apps.get(storableText(userinterface));
    return { ...storableTexts(runs), userinterface: name };
  }
  return {
    /** One requirement, whatever its status, judged by the last runs that the filter lets through. */
    async coverage(ref: string, runs: RunFilter, maxTokens: number) {
      const { id, code, name, priority, status } = await getRequirement(rows, ref);
      const [facts] = await coverage.of(id, await runsOf(runs));
      return { code, name, priority, status, ...coverageView(facts?.testcases ?? [], maxTokens) };
    },
    /** All requirements that are not deprecated. `more` are categories. */
    async summary(runs: RunFilter, maxTokens: number) {
      return summaryView(await coverage.of(undefined, await runsOf(runs)), maxTokens);
    },
    /** Those that are not deprecated and that no test case covers in full, P1 first. */
    async uncovered(filter: Pick<RequirementFilter, "priority" | "category">, maxTokens: number) {
      return uncoveredView(await coverage.uncovered(storableTexts(filter)), maxTokens);
    },
  };
}

async function getRequirement(rows: RequirementDependencies["rows"], ref: string): Promise<Requirement> {
  const found = await rows.find(storableText(ref));
  if (found) return found;
  const near = nearest(ref, await rows.codes(), 5);
  throw new ToolError(
    "REQUIREMENT_NOT_FOUND",
    `There is no requirement "${ref}".`,
    near.length > 0
      ? `Did you mean ${near.map((code) => `"${code}"`).join(", ")}?`
      : "list_requirements shows all.",
    { nearest: near },
  );
}

/** Texts in the form that the database takes. */
const storableTexts = <Value>(value: Value) => mapStrings(value, storableText);

const nowOf = (clock: RequirementDependencies["clock"]) => new Date(clock.now()).toISOString();

const taken = (code: string | undefined, hint: string) =>
  new ToolError("ALREADY_EXISTS", `There already is a requirement "${code}".`, hint);

const nothingGiven = () =>
  new ToolError(
    "INVALID_INPUT",
    "Nothing is given that would change.",
    "Give code, name, description, priority, category, acceptance_criteria or status.",
  );
