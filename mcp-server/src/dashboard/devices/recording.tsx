import { useState } from "preact/hooks";
import { useAttempt } from "../../views/attempt.tsx";
import { Shown } from "../../views/states.tsx";
import { Scrolled } from "../../views/text.tsx";
import { callTool } from "../shell/api.ts";
import { Part } from "../shell/detail.tsx";
import { usePolled } from "../shell/polled.ts";
import { addressOf } from "../shell/route.ts";
import { linesOf } from "../tests/steps.ts";

type Check = { command: string; params: Record<string, unknown>; negate?: boolean };
type Step = Check & { timeout_ms?: number; arrival?: Check; proposals?: Check[] };
type Recorded = { steps: Step[]; ended?: string };

const mostMs = 3_600_000;

/** A step as `save_testcase` takes it. */
function written({ command, params, negate, timeout_ms }: Step): Record<string, unknown> {
  const step = { [command]: params };
  return { ...(negate ? { not: step } : step), ...(timeout_ms !== undefined && { timeout_ms }) };
}

/** Makes a test of what its holder does to the device through this page: Record, Stop, a name, Save. */
export function Recording({ id, isHeld }: { id: string; isHeld: boolean }) {
  const storedAs = `recording of ${id}`;
  const [recordingId, setRecordingId] = useState(sessionStorage.getItem(storedAs));
  const [stopped, setStopped] = useState<Step[]>();
  const [app, setApp] = useState("");
  const { problem, isBusy, attempt } = useAttempt();
  const keep = (recording: string | null) => {
    if (recording === null) sessionStorage.removeItem(storedAs);
    else sessionStorage.setItem(storedAs, recording);
    setRecordingId(recording);
  };
  const start = async () => {
    setStopped(undefined);
    const args = { device_id: id, kind: "steps", max_ms: mostMs };
    keep((await callTool<{ recording_id: string }>("start_recording", args)).recording_id);
    const open = { command: "open_app", params: { app } };
    if (app !== "") await callTool("execute_device_action", { device_id: id, actions: [open], look: false });
  };
  const stop = async () => {
    try {
      setStopped((await callTool<Recorded>("stop_recording", { recording_id: recordingId })).steps);
    } finally {
      keep(null);
    }
  };
  if (!isHeld && recordingId === null && stopped === undefined) return null;
  return (
    <Part title="Record a test">
      {recordingId !== null && (
        <>
          <p class="note warn">
            What you type is written into the test, except into password fields: a secret's name stands there.
            The records of runs keep what you type: <code>labwright record</code> keeps passwords out of
            those, too.
          </p>
          <Steps recordingId={recordingId} />
          <button type="button" class="main" disabled={isBusy} onClick={() => attempt(stop)}>
            Stop
          </button>
        </>
      )}
      {recordingId === null && isHeld && (
        <div class="filter">
          <label>
            Address or app to open first
            <input value={app} onInput={(event) => setApp(event.currentTarget.value.trim())} />
          </label>
          <button type="button" disabled={isBusy} onClick={() => attempt(start)}>
            Record
          </button>
        </div>
      )}
      {problem}
      {stopped && <Review steps={stopped} />}
    </Part>
  );
}

const Lines = ({ steps }: { steps: readonly Step[] }) => (
  <Scrolled text={linesOf(steps.map(written)).join("\n") || "Nothing is recorded yet."} />
);

function Steps({ recordingId }: { recordingId: string }) {
  const recorded = usePolled(
    recordingId,
    (signal) => callTool<Recorded>("read_recording", { recording_id: recordingId }, signal),
    1_000,
  );
  return (
    <Shown of={recorded} what="the steps">
      {({ steps, ended }) => (
        <>
          {ended !== undefined && <p class="note warn">The recording ended: {ended.replace("_", " ")}</p>}
          <Lines steps={steps} />
        </>
      )}
    </Shown>
  );
}

/** The steps with the chosen checks of the last screen, under a name. */
function Review({ steps }: { steps: Step[] }) {
  const { arrival, proposals = [] } = steps.at(-1) ?? {};
  const proposed = new Map(
    [...(arrival ? [arrival] : []), ...proposals].map((check) => [titleOf(check), check]),
  );
  const [chosen, setChosen] = useState<ReadonlyMap<string, Check>>(new Map([...proposed].slice(0, 1)));
  const [name, setName] = useState("");
  const [saved, setSaved] = useState<string>();
  const { problem, isBusy, attempt } = useAttempt();
  const all = [...steps, ...chosen.values()];
  const save = async () => {
    // A test that opens its app first does not need what was open before, and may start fresh where its device can.
    const goesOn = steps[0]?.command !== "open_app";
    const testcase = { name, ...(goesOn && { fresh: false }), steps: all.map(written) };
    await callTool("save_testcase", { testcase });
    setSaved(name);
  };
  return (
    <>
      <Lines steps={all} />
      <fieldset class="filter">
        <legend class="soft small">Check at the end</legend>
        {[...proposed].map(([title, check]) => (
          <label key={title}>
            <input
              type="checkbox"
              checked={chosen.has(title)}
              onChange={({ currentTarget }) => {
                const others = [...chosen].filter(([one]) => one !== title);
                setChosen(new Map(currentTarget.checked ? [...others, [title, check]] : others));
              }}
            />
            {title}
          </label>
        ))}
      </fieldset>
      <div class="filter">
        <label>
          Name of the test
          <input value={name} onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <button
          type="button"
          class="main"
          disabled={isBusy || name.trim() === "" || all.length === 0}
          onClick={() => attempt(save)}
        >
          Save the test
        </button>
      </div>
      {problem}
      <p role="status">
        {saved !== undefined && <a href={addressOf({ room: "tests", id: saved })}>Saved. Open {saved}</a>}
      </p>
    </>
  );
}

const titleOf = ({ command, params, negate }: Check) =>
  `${negate ? "not " : ""}${command.replaceAll("_", " ")} ${Object.values(params).join(" ")}`;
