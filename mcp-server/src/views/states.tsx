import type { ComponentChildren } from "preact";

/** Why something failed, as the server says it. Code OFFLINE: no answer. */
export class Failure extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly hint = "",
  ) {
    super(message);
  }
}

export const asFailure = (error: unknown): Failure =>
  error instanceof Failure
    ? error
    : new Failure("PAGE", error instanceof Error ? error.message : String(error));

const tones: Readonly<Record<string, "good" | "bad" | "warn">> = {
  ...{ passed: "good", online: "good", free: "good", done: "good", completed: "good", yours: "good" },
  ...{ active: "good", resolved: "good" },
  ...{ failed: "bad", error: "bad", timeout: "bad", offline: "bad", open: "bad" },
  ...{ running: "warn", queued: "warn", cancelled: "warn", held: "warn", flaky: "warn", skipped: "warn" },
};

/** The class that colours a status. */
export const toneOf = (status: string) => tones[status] ?? "warn";

/** A status by its word and colour. */
export const Badge = ({ status }: { status: string }) => (
  <span class={`badge ${toneOf(status)}`}>{status.replaceAll("_", " ")}</span>
);

export const Empty = ({ children }: { children: ComponentChildren }) => <p class="empty">{children}</p>;

const Loading = ({ what }: { what: string }) => (
  <p class="loading" role="status">
    Loading {what} …
  </p>
);

export const Problem = ({ failure }: { failure: Failure }) => (
  <div class="note bad" role="alert">
    <strong>{failure.code}</strong> {failure.message} {failure.hint}
  </div>
);

/** Why something did not pass, if it did not. */
export const Reason = ({ of: reason }: { of: { code: string; message: string } | undefined }) =>
  reason && (
    <p class="note bad">
      <strong>{reason.code}</strong> {reason.message}
    </p>
  );

/** What was asked for, or why it is not there. Keeps showing the last answer while newer ones fail. */
export function Shown<Value>({
  of: { value, failure },
  what,
  children,
}: {
  of: { value?: Value | undefined; failure?: Failure | undefined };
  what: string;
  children: (value: Value) => ComponentChildren;
}) {
  const isReported = failure?.code === "OFFLINE" || failure?.code === "UNAUTHORIZED";
  return (
    <>
      {failure && !isReported && <Problem failure={failure} />}
      {value !== undefined ? children(value) : !failure && <Loading what={what} />}
    </>
  );
}

/** Why parts of a device cannot be used. */
export const Unavailable = ({
  of: parts,
}: {
  of: readonly { kind: string; driver: string; reason: string }[];
}) =>
  parts.map(({ kind, driver, reason }) => (
    <p class="note warn" key={`${kind} ${driver}`}>
      {kind} ({driver}) cannot be used: {reason}
    </p>
  ));

/** Names and values. */
export const Facts = ({ rows }: { rows: readonly (readonly [string, ComponentChildren])[] }) => (
  <dl class="facts">
    {rows.map(([name, value]) => (
      <>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </>
    ))}
  </dl>
);
