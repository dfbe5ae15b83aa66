import { useState } from "preact/hooks";
import type { RunMark } from "../../domain/execution.ts";
import { duration, moment } from "../../views/format.ts";
import { Badge, Empty, Facts } from "../../views/states.tsx";
import { Scrolled } from "../../views/text.tsx";
import type { HostsReply } from "../devices/replies.ts";
import { callTool } from "../shell/api.ts";
import { Actions, Detail, Part, RunLink } from "../shell/detail.tsx";
import { Choice, Table } from "../shell/listing.tsx";
import { addressOf } from "../shell/route.ts";
import { Strip } from "../shell/strip.tsx";
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
type Run = RunMark & { device?: string; reason?: string };

async function load(id: string, signal: AbortSignal) {
  const { testcase: test } = (await callTool<{ testcase: Test }>("load_testcase", { testcase: id }, signal))
    .result;
  const [{ result }, requirements, devices] = await Promise.all([
    callTool<{ executions: Run[]; more?: number }>(
      "get_execution_results",
      { kind: "testcase", name: test.name, max_tokens: 4_000 },
      signal,
    ),
    callTool<{ requirements: { code: string; name: string }[] }>(
      "get_testcase_requirements",
      { testcase: id },
      signal,
    ),
    devicesFor(test.app, signal),
  ]);
  return { test, runs: result.executions, requirements: requirements.result.requirements, devices };
}

/** Devices that can run tests of an app, the best first; all without one. */
async function devicesFor(app: string | undefined, signal: AbortSignal): Promise<string[]> {
  if (app === undefined) {
    const { result } = await callTool<HostsReply>("list_hosts", {}, signal);
    return result.hosts.flatMap(({ devices }) => devices.map(({ id }) => id));
  }
  const args = { userinterface_name: app };
  const { result } = await callTool<{ devices: { id: string }[] }>("get_compatible_hosts", args, signal);
  return result.devices.map(({ id }) => id);
}

/** A test: its steps, inputs and runs, and a run of it on a device. */
export const TestPage = ({ id }: { id: string }) => (
  <Detail
    room="tests"
    all="All tests"
    id={id}
    everyMs={5_000}
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
          <Part title="Facts">
            <Facts
              rows={[
                ["App", test.app ?? "none"],
                ["Tags", test.tags?.join(", ") || "none"],
                ["Fresh start", test.fresh === false ? "no" : "yes"],
                ["Retries", test.retries ?? 0],
                ...requirements.map(
                  ({ code, name }) =>
                    [
                      "Covers",
                      <a href={addressOf({ room: "requirements", id: code })}>{`${code} ${name}`}</a>,
                    ] as const,
                ),
              ]}
            />
          </Part>
        </div>
        <Part title="Runs">
          {runs.length === 0 ? <Empty>This test has not run yet.</Empty> : <Strip runs={runs} />}
          <Table
            titles={["Started", "Verdict", "Device", "Took"]}
            rows={runs.map(
              ({ execution_id: run, status, flaky, reason, device, started_at, duration_ms }) => [
                <RunLink id={run}>{moment(started_at)}</RunLink>,
                <>
                  <Badge status={status} /> {flaky && <Badge status="flaky" />}{" "}
                  <span class="small">{reason}</span>
                </>,
                device,
                duration(duration_ms),
              ],
            )}
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

const textOf = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));

/** What a person typed, as a value of the default's kind where it can be read as one. */
function typedAs(normal: unknown, text: string): unknown {
  if (normal === undefined || typeof normal === "string") return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
