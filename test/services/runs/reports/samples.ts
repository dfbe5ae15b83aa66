import type { Execution, Step } from "#mcp-server/domain/index.ts";
import type { Picture, ReportEntry } from "#mcp-server/services/runs/reports/index.ts";

export const execution = (more: Partial<Execution> = {}): Execution => ({
  id: "7d4c2a51-3b8e-4a63-9c55-5a0b61e7a001",
  kind: "testcase",
  name: "Add a todo",
  status: "passed",
  started_at: "2026-01-01T10:00:00.000Z",
  finished_at: "2026-01-01T10:00:03.200Z",
  duration_ms: 3_200,
  host_name: "lab",
  device: "lab/browser",
  device_model: "web",
  environment: "staging",
  release: "1.4.0",
  build: "812",
  userinterface: "todomvc",
  triggered_by: "local",
  correlation_id: "c0ffee",
  verified_count: 2,
  outputs: {},
  ...more,
});

export const step = (index: number, more: Partial<Step> = {}): Step => ({
  index,
  path: `step${index}`,
  kind: "action",
  label: `click_element Step ${index}`,
  status: "passed",
  started_at: new Date(Date.parse("2026-01-01T10:00:00.000Z") + index * 700).toISOString(),
  duration_ms: 450,
  input: { command: "click_element", params: { selector: `Step ${index}` } },
  output: { ok: true, message: "clicked" },
  artifacts: [],
  ...more,
});

export const head = { id: "0b7a3a5e-8a51-4ed4-a4b3-5d1f3f6f0001", generatedAt: "2026-01-01T11:00:00.000Z" };

/** One red pixel. */
export const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==",
  "base64",
);
export const redPicture: Picture = { mimeType: "image/png", bytes: pixel, width: 1, height: 1 };

export const passedEntry = (): ReportEntry => ({
  execution: execution(),
  steps: [step(0), step(1)],
  pictures: new Map(),
});

export const shot = (kind: "before" | "after", uri: string): Step["artifacts"][number] => ({
  kind: `screenshot_${kind}`,
  uri,
  mime_type: "image/png",
});

/** Text as a hostile page would have it. */
export const hostile = `</pre><script>alert("x")</script><img src=x onerror='alert(1)'> & ]]> \u0000\u001b[31m\ud800`;

const failedStep = (more: Partial<Step> = {}): Step =>
  step(2, {
    kind: "verification",
    label: "text_visible",
    status: "failed",
    output: {
      pass: false,
      expected: 'the screen shows "2 items left"',
      actual: "1 item left",
      nearest: ["1 item left"],
    },
    error: {
      code: "VERIFICATION_FAILED",
      message: 'expected the screen shows "2 items left"; found 1 item left',
    },
    artifacts: [shot("before", "artifact://aa"), shot("after", "artifact://bb")],
    ...more,
  });

export const failedEntry = (pictures: ReadonlyMap<string, Picture> = new Map()): ReportEntry => ({
  execution: execution({
    id: "7d4c2a51-3b8e-4a63-9c55-5a0b61e7a002",
    name: "Counts what is left",
    status: "failed",
    reason: {
      code: "VERIFICATION_FAILED",
      message: 'expected the screen shows "2 items left"; found 1 item left',
    },
  }),
  steps: [
    step(0, { artifacts: [shot("before", "artifact://aa"), shot("after", "artifact://aa")] }),
    step(1, { kind: "navigation", label: "go to Active" }),
    failedStep(),
  ],
  pictures,
});

export const hostileEntry = (): ReportEntry => ({
  execution: execution({
    id: hostile,
    name: hostile,
    status: "error",
    reason: { code: hostile, message: hostile },
    userinterface: hostile,
    device: hostile,
    device_model: hostile,
    host_name: hostile,
    environment: hostile,
    triggered_by: hostile,
    outputs: { [hostile]: hostile },
  }),
  steps: [
    failedStep({
      path: hostile,
      label: hostile,
      kind: hostile,
      input: { [hostile]: hostile },
      output: { expected: hostile, actual: hostile, nearest: [hostile] },
      error: { code: hostile, message: hostile },
      artifacts: [{ kind: hostile, uri: hostile, mime_type: `image/png"><script>alert(2)</script>` }],
      activity: {
        console: [{ at: hostile, level: hostile, text: hostile, place: hostile }],
        requests: [
          {
            ...{ at: hostile, method: hostile, url: hostile, type: hostile, failure: hostile },
            ...{ sent: hostile, answer: hostile, mocked: true as const },
          },
        ],
      },
    }),
  ],
  pictures: new Map([[hostile, { ...redPicture, mimeType: `image/png"><script>alert(3)</script>` }]]),
});

/** So many earlier runs, newest first: one failed, the one before it was flaky, the rest passed. */
export const historyOf = (count: number): NonNullable<ReportEntry["history"]> =>
  Array.from({ length: count }, (_, at) => ({
    ...{ execution_id: `before ${at}`, status: at === 0 ? "failed" : "passed", duration_ms: 3_100 },
    ...(at === 1 && { flaky: true }),
    started_at: new Date(Date.UTC(2025, 11, 31 - at, 9)).toISOString(),
  }));

/** A run that ended, without pictures. */
export const ended = (
  name: string,
  more: Partial<ReportEntry["execution"]>,
  steps: Step[] = [],
): ReportEntry => ({
  execution: execution({ id: `id of ${name}`, name, ...more }),
  steps,
  pictures: new Map(),
});
export const because = (code: string, message = "It ended.") => ({ reason: { code, message } });
