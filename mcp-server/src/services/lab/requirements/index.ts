import { randomUUID } from "node:crypto";
import { nearest } from "@labwright/controllers";
import type { Requirement } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import { storableText } from "../../records/executions/storable.ts";
import { pageOf } from "../../values/pages.ts";
import { mapStrings } from "../../values/strings.ts";
import type { RequirementDependencies, RequirementService, RunFilter } from "./types.ts";
import { coverageView, summaryView, uncoveredView } from "./views.ts";

export type { RequirementService } from "./types.ts";

export function createRequirements(deps: RequirementDependencies): RequirementService {
  return { ...keeping(deps), ...linking(deps), ...judging(deps) };
}

function keeping({ rows, clock }: RequirementDependencies) {
  return {
    async create(input) {
      const requirement = { id: randomUUID(), ...storableTexts(input) };
      const stored = await rows.insert(requirement, nowOf(clock));
      if (!stored) throw taken(input.code, "Choose another code, or leave it out and get the next free one.");
      return stored;
    },
    async list({ text = "", ...filter }, maxTokens) {
      const words = text.split(/\s+/u).filter(Boolean);
      const found = await rows.list(storableTexts({ ...filter, words }));
      const { items, more } = pageOf(found, 0, maxTokens);
      return { requirements: items, more };
    },
    async get(ref) {
      const requirement = await getRequirement(rows, ref);
      return { ...requirement, linked: await rows.linked(requirement.id) };
    },
    async update(ref, { category, ...patch }) {
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
  } satisfies Partial<RequirementService>;
}

function linking({ rows, testcases, clock }: RequirementDependencies) {
  const both = async (requirement: string, testcase: string) => ({
    requirement: await getRequirement(rows, requirement),
    testcase: await testcases.load(storableText(testcase)),
  });
  return {
    async link(requirementRef, testcaseRef, coverage) {
      const { requirement, testcase } = await both(requirementRef, testcaseRef);
      const result = await rows.link(requirement.id, testcase.id, coverage, nowOf(clock));
      return { requirement: requirement.code, testcase: testcase.name, result };
    },
    async unlink(requirementRef, testcaseRef) {
      const { requirement, testcase } = await both(requirementRef, testcaseRef);
      const was_linked = await rows.unlink(requirement.id, testcase.id);
      return { requirement: requirement.code, testcase: testcase.name, was_linked };
    },
    async ofTestcase(testcaseRef, maxTokens) {
      const { name, source } = await testcases.load(storableText(testcaseRef));
      const lines = (await rows.requirementsOf([{ name, project: source.project }])).map(
        ({ testcase: _t, project: _p, ...line }) => line,
      );
      const { items, more } = pageOf(lines, 0, maxTokens);
      return { testcase: name, requirements: items, more };
    },
    requirementsOf: (tests) => rows.requirementsOf(tests),
  } satisfies Partial<RequirementService>;
}

function judging({ rows, coverage, apps }: RequirementDependencies) {
  async function runsOf({ userinterface, ...runs }: RunFilter): Promise<RunFilter> {
    if (userinterface === undefined) return storableTexts(runs);
    const { name } = await apps.get(storableText(userinterface));
    return { ...storableTexts(runs), userinterface: name };
  }
  return {
    async coverage(ref, runs, maxTokens) {
      const { id, code, name, priority, status } = await getRequirement(rows, ref);
      const [facts] = await coverage.of(id, await runsOf(runs));
      return { code, name, priority, status, ...coverageView(facts?.testcases ?? [], maxTokens) };
    },
    async summary(runs, maxTokens) {
      return summaryView(await coverage.of(undefined, await runsOf(runs)), maxTokens);
    },
    async uncovered(filter, maxTokens) {
      return uncoveredView(await coverage.uncovered(storableTexts(filter)), maxTokens);
    },
  } satisfies Partial<RequirementService>;
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
