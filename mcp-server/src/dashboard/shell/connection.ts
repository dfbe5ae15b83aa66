import { useEffect, useState } from "preact/hooks";
import type { Failure } from "../../views/states.tsx";

/** `closed`: the server knows this page's token no longer. */
export type Connection = "online" | "offline" | "closed";

let current: Connection = "online";
const listeners = new Set<(connection: Connection) => void>();

/** What the newest answer says of the connection. */
export function noteAnswer(failure: Failure | undefined): void {
  const next =
    failure?.code === "OFFLINE" ? "offline" : failure?.code === "UNAUTHORIZED" ? "closed" : "online";
  if (next === current) return;
  current = next;
  for (const listener of listeners) listener(next);
}

export function useConnection(): Connection {
  const [connection, setConnection] = useState(current);
  useEffect(() => {
    listeners.add(setConnection);
    return () => void listeners.delete(setConnection);
  }, []);
  return connection;
}
