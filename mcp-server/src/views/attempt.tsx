import { useEffect, useState } from "preact/hooks";
import { asFailure, type Failure, Problem } from "./states.tsx";

/** What a button does: whether it is under way, and why it failed last, also to be shown. `after` follows each end. */
export function useAttempt(after: () => void = () => {}) {
  const [failure, setFailure] = useState<Failure>();
  const [isBusy, setBusy] = useState(false);
  const attempt = async (work: () => Promise<unknown>) => {
    setBusy(true);
    setFailure(await work().then(() => undefined, asFailure));
    setBusy(false);
    after();
  };
  return {
    ...{ failure, isBusy, problem: failure && <Problem failure={failure} /> },
    attempt: (work: () => Promise<unknown>) => void attempt(work),
  };
}

/** Does `work` in `ms`, or when the page is seen again after that: a browser draws no page that no one sees. Returns how to call it off. */
export function whenSeen(ms: number, work: () => void): () => void {
  const observer = new IntersectionObserver((entries) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
    observer.disconnect();
    work();
  });
  const timer = setTimeout(() => observer.observe(document.body), ms);
  return () => {
    clearTimeout(timer);
    observer.disconnect();
  };
}

/** Does `work` in `everyMs` after each attempt, while the page is seen; not after one that failed, nor while `everyMs` is undefined. */
export function useRenewal(
  { isBusy, failure }: Pick<ReturnType<typeof useAttempt>, "isBusy" | "failure">,
  everyMs: number | undefined,
  work: () => void,
): void {
  const pauseMs = isBusy || failure ? undefined : everyMs;
  useEffect(() => (pauseMs === undefined ? undefined : whenSeen(pauseMs, work)), [pauseMs]);
}
