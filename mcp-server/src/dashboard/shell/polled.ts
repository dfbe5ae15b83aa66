import { useEffect, useRef, useState } from "preact/hooks";
import { whenSeen } from "../../views/attempt.tsx";
import { asFailure, type Failure } from "../../views/states.tsx";
import { noteAnswer } from "./connection.ts";

/** `value`: the last one, also while newer answers fail. */
type Answer<Value> = { value?: Value | undefined; failure?: Failure | undefined };

/** In ms, also by the value so far. Undefined: not again. */
export type Pause<Value> = number | undefined | ((value: Value | undefined) => number | undefined);

const pauseOf = <Value>(every: Pause<Value>, value: Value | undefined) =>
  typeof every === "function" ? every(value) : every;

/** Asks when it is first shown, and `every` after each answer while the page is seen. A new `key` begins anew. `load` gets the value so far; `again` asks now. */
export function usePolled<Value>(
  key: string,
  load: (signal: AbortSignal, before: Value | undefined) => Promise<Value>,
  every: Pause<Value>,
): Answer<Value> & { again(): void } {
  const [, draw] = useState(0);
  const [asked, setAsked] = useState(0);
  const latest = useRef({ load, every });
  latest.current = { load, every };
  const own = useRef<Answer<Value> & { key: string }>({ key });
  if (own.current.key !== key) own.current = { key };

  useEffect(() => {
    const stop = new AbortController();
    let callOff = () => {};
    const ask = async () => {
      const { value } = own.current;
      const answer: Answer<Value> = await latest.current.load(stop.signal, value).then(
        (next) => ({ value: next }),
        (error: unknown) => ({ value, failure: asFailure(error) }),
      );
      if (stop.signal.aborted) return;
      own.current = { key, ...answer };
      noteAnswer(answer.failure);
      draw((count) => count + 1);
      const pause = pauseOf(latest.current.every, answer.value);
      if (pause !== undefined) callOff = whenSeen(pause, () => void ask());
    };
    void ask();
    return () => {
      stop.abort();
      callOff();
    };
  }, [key, asked]);

  return { ...own.current, again: () => setAsked((count) => count + 1) };
}
