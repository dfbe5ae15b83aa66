import { useState } from "preact/hooks";
import { asFailure, type Failure } from "./api.ts";

/** What a button does: whether it is under way, and why it failed last. `after` follows each end. */
export function useAttempt(after: () => void = () => {}) {
  const [failure, setFailure] = useState<Failure>();
  const [isBusy, setBusy] = useState(false);
  const attempt = async (work: () => Promise<unknown>) => {
    setBusy(true);
    setFailure(await work().then(() => undefined, asFailure));
    setBusy(false);
    after();
  };
  return { failure, isBusy, attempt: (work: () => Promise<unknown>) => void attempt(work) };
}
