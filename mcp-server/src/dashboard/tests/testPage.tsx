import { useState } from "preact/hooks";
import { duration, moment, textOf } from "../../views/format.ts";
import { Verdict } from "../../views/runs.tsx";
import { Empty } from "../../views/states.tsx";
import { Table } from "../../views/table.tsx";
import { Scrolled } from "../../views/text.tsx";
import { devicesFor } from "../devices/replies.ts";
import { callTool } from "../shell/api.ts";
import { Actions, Detail, FactsPart, Part, RunLink } from "../shell/detail.tsx";
import { Choice } from "../shell/listing.tsx";
import { addressOf } from "../shell/route.ts";
import { findRuns, Strip } from "../shell/strip.tsx";
import { linesOf } from "./steps.ts";

type Input = { name: string; default?: unknown; required?: boolean };
type Test = {
  name: string;
  app?: string;
  tags?: string[];
  fresh?: boolean;
  retries?: number;
  inputs?: Input[];
  steps?: unknown[];
  blocks?: unknown[];
  edges?: unknown[];
};
type Requirements = { requirements: { code: string; name: string }[] };

async function load(id: string, signal: AbortSignal) {
  const asked = { testcase: id };
  const { testcase: test } = await callTool<{ testcase: Test }>("load_testcase", asked, signal);
  const [{ executions: runs }, { requirements }, devices] = await Promise.all([
    findRuns({ kind: "testcase", name: test.name, max_tokens: 4_000 }, signal),
    callTool<Requirements>("get_testcase_requirements", asked, signal),
    devicesFor(test.app, signal),
  ]);
  return { test, runs, requirements, devices };
}

const linkTo = ({ code, name }: Requirements["requirements"][number]) => (
  <a href={addressOf({ room: "requirements", id: code })}>{`${code} ${name}`}</a>
);

/** A test: its steps, inputs and runs, and a run of it on a device. */
export const TestPage = ({ id }: { id: string }) => (
  <Detail
    room="tests"
    id={id}
    every={5_000}
    load={(signal) => load(id, signal)}
    nameOf={({ test }) => test.name}
  >
    {({ test, runs, requirements, devices }, again) => (
      <>
        <RunForm id={id} test={test} devices={devices} again={again} />
        <div class="split">
          <Part title="Steps">
            <Scrolled text={linesOf(test.steps ?? { blocks: test.blocks, edges: test.edges }).join("\n")} />
          </Part>
          <FactsPart
            rows={[
              ["App", test.app ?? "none"],
              ["Tags", test.tags?.join(", ") || "none"],
              ["Fresh start", test.fresh === false ? "no" : "yes"],
              ["Retries", test.retries ?? 0],
              ...requirements.map((requirement) => ["Covers", linkTo(requirement)] as const),
            ]}
          />
        </div>
        <Part title="Runs">
          {runs.length === 0 ? <Empty>This test has not run yet.</Empty> : <Strip runs={runs} />}
          <Table
            titles={["Started", "Verdict", "Device", "Took"]}
            rows={runs.map((run) => [
              <RunLink id={run.execution_id}>{moment(run.started_at)}</RunLink>,
              <Verdict {...run} />,
              run.device,
              duration(run.duration_ms),
            ])}
          />
        </Part>
      </>
    )}
  </Detail>
);

function RunForm({ id, test, devices, again }: { id: string; test: Test; devices: string[]; again(): void }) {
  const [device, setDevice] = useState("");
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const inputs = (test.inputs ?? []).flatMap(({ name, ...input }) => {
    const value = values[name];
    return value === undefined ? [] : [[name, typedAs(input.default, value)] as const];
  });
  const device_id = device === "" ? devices[0] : device;
  return (
    <Part title="Run it">
      <fieldset class="filter">
        <legend class="soft small">Device and inputs</legend>
        <Choice
          label="Device"
          value={device}
          options={devices}
          none={devices[0] ?? "none fits"}
          choose={setDevice}
        />
        {test.inputs?.map(({ name, default: normal, required }) => (
          <label key={name}>
            {name}
            <input
              required={required}
              placeholder={normal === undefined ? "" : textOf(normal)}
              onInput={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
            />
          </label>
        ))}
      </fieldset>
      <Actions
        actions={[
          {
            ...{ label: "Run", isMain: true, tool: "execute_testcase" },
            args: { testcase: id, device_id, inputs: Object.fromEntries(inputs), wait_ms: 0 },
          },
        ]}
        done={again}
        ended={again}
      />
    </Part>
  );
}

/** What a person typed, as a value of the default's kind where it can be read as one. */
function typedAs(normal: unknown, text: string): unknown {
  if (normal === undefined || typeof normal === "string") return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
