import { isOpen, type RunLine, Verdict } from "../../views/runs.tsx";
import { callTool } from "../shell/api.ts";
import { Listing } from "../shell/listing.tsx";
import { findRuns, Strip } from "../shell/strip.tsx";

type Test = {
  id: string;
  name: string;
  project?: string;
  userinterface_name?: string;
  tags?: string[];
  runs: readonly RunLine[];
};

/** All tests, each with its runs among the newest of all tests. */
async function load(signal: AbortSignal) {
  const max_tokens = 50_000;
  const [{ testcases, more }, { executions }] = await Promise.all([
    callTool<{ testcases: Omit<Test, "runs">[]; more?: number }>("list_testcases", { max_tokens }, signal),
    findRuns({ kind: "testcase", max_tokens }, signal),
  ]);
  const runsOf = (test: string) => executions.filter(({ name }) => name === test);
  return { items: testcases.map((test): Test => ({ ...test, runs: runsOf(test.name) })), more };
}

const lastOf = ({ runs }: Test) => runs.find((run) => !isOpen(run))?.status ?? "no recent run";
const isFlaky = ({ runs }: Test) => runs.some(({ flaky }) => flaky);

/** Saved tests with what their last runs say. */
export const TestList = () => (
  <Listing<Test>
    room="tests"
    load={load}
    everyMs={8_000}
    idOf={(test) => test.id}
    nameOf={({ name }) => name}
    words={({ tags = [], userinterface_name: app, project }) => [...tags, app, project]}
    choices={{
      ...{ Tag: ({ tags = [] }) => tags, App: (test) => [test.userinterface_name] },
      ...{
        Folder: ({ project }) => [project],
        "Last verdict": (test) => [lastOf(test), isFlaky(test) ? "flaky" : ""],
      },
    }}
    columns={{
      "Last verdict": (test) => <Verdict status={lastOf(test)} flaky={isFlaky(test)} />,
      History: ({ runs }) => <Strip runs={runs.slice(0, 12)} />,
      ...{ App: ({ userinterface_name: app }) => app, Tags: ({ tags = [] }) => tags.join(", ") },
    }}
    empty={
      <>
        No tests yet. Record one with <code>labwright record</code>, or import some with{" "}
        <code>labwright import</code>.
      </>
    }
  />
);
