import { moment } from "../../views/format.ts";
import { Badge, Empty } from "../../views/states.tsx";
import { Table } from "../../views/table.tsx";
import { callTool } from "../shell/api.ts";
import { Detail, FactsPart, Part, RunLink } from "../shell/detail.tsx";
import { Listing } from "../shell/listing.tsx";
import { addressOf } from "../shell/route.ts";

type Line = {
  code: string;
  name: string;
  priority: string;
  category?: string;
  status: string;
  testcases: number;
  verdict?: string;
};
type Whole = Omit<Line, "testcases" | "verdict"> & { description: string; acceptance_criteria: string[] };
type Coverage = {
  verdict: string;
  testcases: { testcase: string; coverage: string; status?: string; execution_id?: string; at?: string }[];
  more?: number;
};
const verdicts = ["passed", "partial", "failed", "not_run", "uncovered"] as const;
type Summary = Record<(typeof verdicts)[number], number>;

async function load(signal: AbortSignal) {
  const asked = { judged: true, max_tokens: 50_000 };
  const [{ requirements: items, more }, summary] = await Promise.all([
    callTool<{ requirements: Line[]; more?: number }>("list_requirements", asked, signal),
    callTool<Summary>("get_coverage_summary", {}, signal),
  ]);
  const counts = Object.fromEntries(verdicts.map((verdict) => [verdict, summary[verdict]]));
  return { items, more, counts };
}

/** What the product must do, and what the last runs say of it. */
export const RequirementList = () => (
  <Listing<Line>
    room="requirements"
    load={load}
    everyMs={10_000}
    idOf={(line) => line.code}
    nameOf={({ code, name }) => `${code} ${name}`}
    choices={{
      ...{ Verdict: ({ verdict }) => [verdict], Priority: ({ priority }) => [priority] },
      ...{ Category: ({ category }) => [category], Status: ({ status }) => [status] },
    }}
    columns={{
      Verdict: ({ verdict, status }) => <Badge status={verdict ?? status} />,
      ...{
        Tests: ({ testcases }) => (testcases === 1 ? "1 test" : `${testcases} tests`),
        Priority: ({ priority }) => priority,
      },
      Category: ({ category }) => category,
    }}
    empty={
      <>
        No requirements yet. Write <code>covers: [REQ-1]</code> in a test, or ask an agent to add some.
      </>
    }
  />
);

export const RequirementPage = ({ id }: { id: string }) => (
  <Detail
    room="requirements"
    id={id}
    every={10_000}
    load={async (signal) => {
      const [whole, covered] = await Promise.all([
        callTool<Whole>("get_requirement", { requirement: id }, signal),
        callTool<Coverage>("get_requirement_coverage", { requirement: id, max_tokens: 20_000 }, signal),
      ]);
      return { ...whole, covered };
    }}
    nameOf={({ code, name }) => `${code} ${name}`}
  >
    {({ covered, description, acceptance_criteria: criteria, ...facts }) => (
      <>
        <p class="row">
          <Badge status={covered.verdict} />
        </p>
        {description !== "" && <p>{description}</p>}
        <div class="split">
          <Part title="Tests">
            {covered.testcases.length === 0 && <Empty>No test checks this requirement.</Empty>}
            <Table
              titles={["Test", "Last verdict", "Covers", "When"]}
              rows={covered.testcases.map(({ testcase, coverage, status, execution_id: run, at = "" }) => [
                <a href={addressOf({ room: "tests", id: testcase })}>{testcase}</a>,
                <Badge status={status ?? "not_run"} />,
                coverage === "full" ? "in full" : "in part",
                run !== undefined && <RunLink id={run}>{moment(at)}</RunLink>,
              ])}
            />
          </Part>
          <FactsPart
            rows={[
              ["Priority", facts.priority],
              ["Category", facts.category ?? "none"],
              ["Status", facts.status],
              ...criteria.map((criterion, at) => [`Criterion ${at + 1}`, criterion] as const),
            ]}
          />
        </div>
      </>
    )}
  </Detail>
);
