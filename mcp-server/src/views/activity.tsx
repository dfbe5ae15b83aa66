import { isFaultyLine, isFaultyRequest } from "../domain/activityFaults.ts";
import type { StepActivity } from "../domain/execution.ts";
import { duration } from "./format.ts";
import { Text } from "./text.tsx";

/** What the app logged and requested during a failed step; open where something in it went wrong. */
export const Activity = ({ console, requests }: StepActivity) => (
  <>
    {console.length > 0 && (
      <details open={console.some(isFaultyLine)}>
        <summary class="soft small">
          Console: {console.length}
          {counted(console.filter(isFaultyLine).length, "errors")}
        </summary>
        <ul class="log">
          {console.map((line) => (
            <li key={`${line.at} ${line.text}`} class={isFaultyLine(line) ? "fault" : undefined}>
              <span class="soft">{timeOf(line.at)}</span> {line.level}: {line.text}{" "}
              <span class="soft">{line.place}</span>
            </li>
          ))}
        </ul>
      </details>
    )}
    {requests.length > 0 && (
      <details open={requests.some(isFaultyRequest)}>
        <summary class="soft small">
          Requests: {requests.length}
          {counted(requests.filter(isFaultyRequest).length, "failed")}
        </summary>
        <ul class="log">
          {requests.map((request) => (
            <li key={`${request.at} ${request.url}`} class={isFaultyRequest(request) ? "fault" : undefined}>
              <span class="soft">{timeOf(request.at)}</span>{" "}
              {request.failure ?? request.status ?? "no answer yet"} {request.method} {request.url}{" "}
              <span class="soft">
                {request.type} {duration(request.ms)} {request.mocked && "mocked"}
              </span>
              <Text title="Sent" text={request.sent} />
              <Text title="Answer" text={request.answer} />
            </li>
          ))}
        </ul>
      </details>
    )}
  </>
);

const counted = (count: number, word: string) => count > 0 && `, ${count} ${word}`;

/** Hours to milliseconds, UTC. */
const timeOf = (at: string): string => at.slice(11, 23);
