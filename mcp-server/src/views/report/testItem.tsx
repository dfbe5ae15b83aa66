import { recordedFile } from "../../domain/recordedFile.ts";
import { duration, utc } from "../format.ts";
import { Badge, Facts } from "../states.tsx";
import { File, StepDetails } from "../stepDetails.tsx";
import { isGood, StepList } from "../stepItem.tsx";
import { stepTree } from "../stepTree.ts";
import { Strip } from "../strip.tsx";
import { Table } from "../table.tsx";
import { Lines } from "../text.tsx";
import type { ReportTest } from "./model.ts";

/** A run as a section that folds: its verdict and its reason are seen either way. */
export function TestItem({ test, isOpen }: { test: ReportTest; isOpen: boolean }) {
  const { id, name, word, reason, firstReason, faults, decided, rerun, attempts, steps, group, history } =
    test;
  const { session_url: url } = test;
  const span = { from: Date.parse(test.started_at), total: Math.max(1, test.duration_ms) };
  const linkTo = (step: number) => `#${anchorOf(test)}/${step}`;
  return (
    <details class="test card" id={anchorOf(test)} data-word={word} data-group={group} open={isOpen}>
      <summary>
        <Badge status={word} />
        <h3>{name}</h3>
        <span class="soft small">{duration(test.duration_ms)}</span>
        {reason && (
          <p class="reason">
            <strong>{reason.code}</strong> {reason.message}
          </p>
        )}
        {!reason && firstReason !== undefined && (
          <p class="reason">It passed only when it was tried again. The first attempt: {firstReason}</p>
        )}
        <Lines lines={faults} />
      </summary>
      {decided && (
        <section class="decision stack">
          <h4>{decided.label}</h4>
          <StepDetails step={decided} />
        </section>
      )}
      {rerun !== undefined && <p class="soft">{rerun}</p>}
      {history && (
        <div class="row">
          <span class="soft small">Earlier runs</span> <Strip runs={history} />
        </div>
      )}
      {attempts.length > 0 && <Attempts attempts={attempts} />}
      {test.later !== undefined ? (
        <p class="soft later">{test.later} steps</p>
      ) : steps.length === 0 ? (
        <p class="soft">No step was made.</p>
      ) : (
        <StepList nodes={stepTree(steps)} linkTo={linkTo} span={span} />
      )}
      <Facts
        rows={[
          ...(test.later === undefined
            ? ([["Started", utc(test.started_at)], ["Id", id], ...test.facts] as const)
            : []),
          ...(url === undefined ? [] : [["Session in the cloud", <Link url={url} />] as const]),
          ...test.files.map((path) => fileOf(path)),
        ]}
      />
    </details>
  );
}

export const anchorOf = ({ id }: Pick<ReportTest, "id">) => `run-${id}`;

/** Only what a browser loads from a web server: any other address may be code. */
const Link = ({ url }: { url: string }) =>
  /^https?:/i.test(url) ? (
    <a href={url} rel="noreferrer">
      {url}
    </a>
  ) : (
    url
  );

/** A file next to the report. A path with a scheme or from a root is none. */
function fileOf(path: string) {
  const { kind, mime_type } = recordedFile(path) ?? { kind: "file", mime_type: "" };
  if (/^([a-z][a-z0-9+.-]*:|[/\\])/i.test(path)) return [kind, path] as const;
  const href = encodeURI(path);
  return [
    kind,
    <>
      {kind === "video" && <File {...{ uri: path, caption: kind, href, mime_type }} />}
      <a href={href}>{path}</a> {kind === "trace" && <code>labwright trace {path}</code>}
    </>,
  ] as const;
}

/** A pass after a failure is not a plain pass. */
const Attempts = ({ attempts }: Pick<ReportTest, "attempts">) => (
  <Table
    titles={["#", "Result", "Time", "Why", "Id"]}
    rows={attempts.map(({ id, status, reason, duration_ms }, at) => [
      at + 1,
      <Badge status={status} />,
      duration(duration_ms),
      reason && `${reason.code}: ${reason.message}`,
      id,
    ])}
  />
);

export const isBad = ({ word }: ReportTest) => !isGood(word);
