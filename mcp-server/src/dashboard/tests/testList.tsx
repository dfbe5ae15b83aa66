import type { RunMark } from "../../domain/execution.ts";
import { Badge } from "../../views/states.tsx";
import { callTool } from "../shell/api.ts";
import { Listing } from "../shell/listing.tsx";
import { Strip } from "../shell/strip.tsx";

type Test = {
  id: string;
  name: string;
  project?: string;
  userinterface_name?: string;
  tags?: string[];
  runs: readonly RunMark[];
};

/** All tests, each with its runs among the newest of all tests. */
async function load(signal: AbortSignal) {
  const max_tokens = 50_000;
  const [list, results] = await Promise.all([
    callTool<{ testcases: Omit<Test, "runs">[]; more?: number }>("list_testcases", { max_tokens }, signal),
    callTool<{ executions: (RunMark & { name: string })[] }>(
      "get_execution_results",
      { kind: "testcase", max_tokens },
      signal,
    ),
  ]);
  const { testcases, more } = list.result;
  const runs = results.result.executions;
  const items = testcases.map(
    (test): Test => ({ ...test, runs: runs.filter(({ name }) => name === test.name) }),
  );
  return { items, more };
}

const isOver = ({ status }: RunMark) => status !== "running" && status !== "queued";
const lastOf = ({ runs }: Test) => runs.find(isOver)?.status ?? "no recent run";
const isFlaky = ({ runs }: Test) => runs.some(({ flaky }) => flaky);

/** Saved tests with what their last runs say. */
export const TestList = () => (
  <Listing<Test>
    room="tests"
    title="Tests"
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
      "Last verdict": (test) => (
        <>
          <Badge status={lastOf(test)} /> {isFlaky(test) && <Badge status="flaky" />}
        </>
      ),
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
