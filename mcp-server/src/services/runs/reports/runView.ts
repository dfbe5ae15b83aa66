import { z } from "zod";
import { type Execution, noticesOf, type RunView, type Step, type StepView } from "../../../domain/index.ts";
import type { EventRows } from "../../../storage/index.ts";
import { findingOf, inputsOf, startFacts } from "../judgement/facts.ts";
import { shotsOf } from "./pictures.ts";
import type { Picture } from "./types.ts";

/** So many steps at a time. */
export const mostSteps = 500;
const shownCharacters = 4_000;

/** The run with some of its steps; `total` and `more` count those that it has, and those behind the ones shown. */
export function runViewOf(
  { execution, steps }: { execution: Execution; steps: readonly Step[] },
  { doing, ...rest }: Pick<RunView, "total" | "more" | "again" | "recordings" | "doing">,
): RunView {
  const { id, kind, name, status, reason, flaky, started_at, duration_ms, attempts } = execution;
  return {
    ...{ id, kind, name, status, started_at },
    ...(reason && { reason }),
    ...(flaky && { flaky }),
    ...(duration_ms !== undefined && { duration_ms }),
    ...(attempts && { attempts }),
    ...(doing !== undefined && { doing }),
    facts: factsOf(execution),
    steps: steps.map(stepViewOf),
    ...rest,
  };
}

const mostRecordings = 10;
const recordedSchema = z.object({
  started_at: z.string(),
  duration_ms: z.number(),
  files: z.array(z.object({ kind: z.string(), uri: z.string(), mime_type: z.string() })),
});

/** What was recorded on the run's device while it ran: a device has one recording at a time, so the first that ended after its start. */
export async function recordingsOf(
  { device, started_at, finished_at }: Pick<Execution, "device" | "started_at" | "finished_at">,
  rows: Pick<EventRows, "ofType">,
): Promise<RunView["recordings"]> {
  if (device === undefined || finished_at === undefined) return [];
  const type = "recording.finished";
  const ended = await rows.ofType({ type, device, from: started_at, limit: mostRecordings });
  const [from, to] = [Date.parse(started_at), Date.parse(finished_at)];
  return ended.flatMap(({ payload }) => {
    const { data } = recordedSchema.safeParse(payload);
    const begun = Date.parse(data?.started_at ?? "");
    if (!data || begun >= to || begun + data.duration_ms <= from) return [];
    const from_s = (from - begun) / 1_000;
    return data.files.map(({ kind: caption, uri, mime_type }) => ({ uri, caption, mime_type, from_s }));
  });
}

export function factsOf(execution: Execution): RunView["facts"] {
  const { device, device_model, device_version, userinterface, environment, release, build } = execution;
  const known = { device, model: device_model, version: device_version, app: userinterface };
  const rows = Object.entries({ ...known, environment, release, build });
  const inputs = Object.entries(inputsOf(execution)).map(([name, value]): [string, string] => [
    `input ${name}`,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  return [
    ...rows.flatMap(([name, value]): [string, string][] => (value === undefined ? [] : [[name, value]])),
    ...inputs,
    ...startFacts(execution),
  ];
}

export function stepViewOf(step: Step): StepView {
  const { index, path, kind, label, status, started_at, duration_ms, error, activity } = step;
  const { expected, found, nearest = [], area, score } = findingOf(step) ?? {};
  const notices = noticesOf(step);
  const input = textOf(step.input);
  const output = textOf(step.output);
  return {
    ...{ index, path, kind, label, status, started_at, duration_ms },
    ...(error && { error }),
    ...(notices.length > 0 && { notices: [...notices] }),
    ...(input !== undefined && { input }),
    ...(output !== undefined && { output }),
    ...(expected !== undefined && {
      finding: { expected, found: found ?? "", nearest: [...nearest], ...(score !== undefined && { score }) },
    }),
    ...(area && { area }),
    ...(activity && { activity }),
    pictures: shotsOf(step, { pictureChoice: "all" }).map(([uri, caption]) => ({ uri, caption })),
    files: step.artifacts
      .filter(({ mime_type }) => !mime_type.startsWith("image/"))
      .map(({ kind: caption, uri, mime_type }) => ({ uri, caption, mime_type })),
  };
}

function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  const text = JSON.stringify(value, null, 2);
  if (text === "{}") return undefined;
  return text.length > shownCharacters ? `${text.slice(0, shownCharacters)}\n…` : text;
}

/** Characters of data: URLs. */
const mostShownPictures = 1_000_000;

/** The runs with the pictures themselves in place of their addresses, those of steps that did not pass first. */
export async function withShownPictures(
  runs: readonly RunView[],
  find: (uri: string) => Promise<Picture | undefined>,
): Promise<RunView[]> {
  const isPassed = ({ status }: StepView) => status === "passed" || status === "skipped";
  const steps = runs.flatMap((run) => run.steps);
  const byWorth = steps.toSorted((a, b) => Number(isPassed(a)) - Number(isPassed(b)));
  const hrefs = new Map<string, string>();
  let left = mostShownPictures;
  for (const uri of new Set(byWorth.flatMap(({ pictures }) => pictures.map((picture) => picture.uri)))) {
    const { mimeType, bytes } = (await find(uri)) ?? { mimeType: "", bytes: Buffer.of() };
    const href = `data:${mimeType};base64,${Buffer.from(bytes).toString("base64")}`;
    left -= href.length;
    if (left < 0) break;
    if (bytes.byteLength > 0) hrefs.set(uri, href);
  }
  const shownStep = ({ input, output, ...step }: StepView): StepView => ({
    ...step,
    ...(!isPassed(step) && { ...(input && { input }), ...(output && { output }) }),
    pictures: step.pictures.map((picture) => ({ ...picture, href: hrefs.get(picture.uri) })),
  });
  return runs.map((run) => ({ ...run, steps: run.steps.map(shownStep) }));
}
