import type { RunMark } from "../domain/execution.ts";
import { duration, moment, utc } from "./format.ts";
import { toneOf } from "./states.tsx";

const signs = { good: "✓", bad: "✗", warn: "~" } as const;

/**
 * Runs as coloured marks, oldest first; `runs` are newest first, as tools return them. Without `linkOf`, as in a file, times are UTC and
 * no mark is a link.
 */
export const Strip = (given: {
  runs: readonly RunMark[];
  current?: string | undefined;
  linkOf?(id: string): string;
}) => (
  <ol class="strip" aria-label="History, oldest run first">
    {given.runs.toReversed().map(({ execution_id: id, status, flaky, started_at, duration_ms }) => {
      const word = flaky ? "flaky" : status;
      const when = given.linkOf ? moment(started_at) : utc(started_at);
      const title = [word, when, duration(duration_ms)].filter(Boolean).join(", ");
      const mark = { class: toneOf(word), title };
      const isCurrent = id === given.current ? "true" : undefined;
      return (
        <li key={id}>
          {given.linkOf ? (
            <a {...mark} href={given.linkOf(id)} aria-label={title} aria-current={isCurrent}>
              {signs[toneOf(word)]}
            </a>
          ) : (
            <span {...mark} role="img">
              {signs[toneOf(word)]}
            </span>
          )}
        </li>
      );
    })}
  </ol>
);
