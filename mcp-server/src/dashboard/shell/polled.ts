import { useEffect, useRef, useState } from "preact/hooks";
import { asFailure, type Failure } from "./api.ts";
import { noteAnswer } from "./connection.ts";

export type Polled<Value> = {
  /** The last answer, also while newer ones fail. */
  value?: Value | undefined;
  failure?: Failure | undefined;
  /** Asks now. */
  again(): void;
};

/**
 * Asks when it is first shown, and `everyMs` after each answer while the page is looked at; once where that is undefined. A new
 * `key` begins anew. `load` gets the value so far.
 */
export function usePolled<Value>(
  key: string,
  load: (signal: AbortSignal, before: Value | undefined) => Promise<Value>,
  everyMs: (value: Value | undefined) => number | undefined,
): Polled<Value> {
  const [state, setState] = useState<{ key: string; value?: Value; failure?: Failure | undefined }>({ key });
  const [asked, setAsked] = useState(0);
  const latest = useRef({ load, everyMs });
  latest.current = { load, everyMs };
  const value = useRef<Value | undefined>(undefined);
  const keyOfValue = useRef(key);
  if (keyOfValue.current !== key) {
    keyOfValue.current = key;
    value.current = undefined;
  }

  useEffect(() => {
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async () => {
      let failure: Failure | undefined;
      try {
        value.current = await latest.current.load(stop.signal, value.current);
      } catch (error) {
        failure = asFailure(error);
      }
      if (stop.signal.aborted) return;
      noteAnswer(failure);
      setState({ key, failure, ...(value.current !== undefined && { value: value.current }) });
      const pause = latest.current.everyMs(value.current);
      if (pause !== undefined) timer = setTimeout(askIfSeen, pause);
    };
    const askIfSeen = () => {
      if (document.hidden)
        document.addEventListener("visibilitychange", () => void ask(), { once: true, signal: stop.signal });
      else void ask();
    };
    void ask();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [key, asked]);

  const own = state.key === key ? state : { key };
  return { value: own.value, failure: own.failure, again: () => setAsked((count) => count + 1) };
}
