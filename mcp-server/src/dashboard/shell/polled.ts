import { useEffect, useRef, useState } from "preact/hooks";
import { whenSeen } from "../../views/attempt.tsx";
import { asFailure, type Failure } from "../../views/states.tsx";
import { noteAnswer } from "./connection.ts";

export type Polled<Value> = {
  /** The last answer, also while newer ones fail. */
  value?: Value | undefined;
  failure?: Failure | undefined;
  /** Asks now. */
  again(): void;
};

/** In ms, also by the value so far. Undefined: not again. */
export type Pause<Value> = number | undefined | ((value: Value | undefined) => number | undefined);

const pauseOf = <Value>(every: Pause<Value>, value: Value | undefined) =>
  typeof every === "function" ? every(value) : every;

/** Asks when it is first shown, and `every` after each answer while the page is seen. A new `key` begins anew. `load` gets the value so far. */
export function usePolled<Value>(
  key: string,
  load: (signal: AbortSignal, before: Value | undefined) => Promise<Value>,
  every: Pause<Value>,
): Polled<Value> {
  const [state, setState] = useState<{ key: string; value?: Value; failure?: Failure | undefined }>({ key });
  const [asked, setAsked] = useState(0);
  const latest = useRef({ load, every });
  latest.current = { load, every };
  const value = useRef<Value | undefined>(undefined);
  const keyOfValue = useRef(key);
  if (keyOfValue.current !== key) {
    keyOfValue.current = key;
    value.current = undefined;
  }

  useEffect(() => {
    const stop = new AbortController();
    let callOff = () => {};
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
      const pause = pauseOf(latest.current.every, value.current);
      if (pause !== undefined) callOff = whenSeen(pause, () => void ask());
    };
    void ask();
    return () => {
      stop.abort();
      callOff();
    };
  }, [key, asked]);

  const own = state.key === key ? state : { key };
  return { value: own.value, failure: own.failure, again: () => setAsked((count) => count + 1) };
}
