import { Failure } from "../../views/states.tsx";

export type Session = { token: string; client: string };

const storedAs = "labwright";

export function readSession(): Session | undefined {
  const text = sessionStorage.getItem(storedAs);
  return text === null ? undefined : JSON.parse(text);
}

export const keepSession = (session: Session): void =>
  sessionStorage.setItem(storedAs, JSON.stringify(session));

/** A file that a tool left. `link` is an address that needs no token. */
export type LeftFile = { name: string; link?: string };
type ToolReply<Result> = { result: Result; artifacts?: LeftFile[] };
type Args = Record<string, unknown>;

/** Runs that this page started. */
export const startedRuns = new Set<string>();

/** One tool's result with the files that it left. Throws {@link Failure}. */
export async function callForFiles<Result>(name: string, args: Args, signal?: AbortSignal) {
  const reply = await send<ToolReply<Result>>("POST", `/api/v1/tools/${name}`, args, signal);
  const { execution_id: id, status } = reply.result as { execution_id?: string; status?: string };
  if (id !== undefined && (status === "running" || status === "queued")) startedRuns.add(id);
  return { artifacts: [], ...reply };
}

/** One tool's result. Throws {@link Failure}. */
export const callTool = async <Result>(name: string, args: Args, signal?: AbortSignal): Promise<Result> =>
  (await callForFiles<Result>(name, args, signal)).result;

/** One GET of the REST interface. Throws {@link Failure}. */
export const read = <Result>(path: string, signal?: AbortSignal): Promise<Result> =>
  send("GET", `/api/v1/${path}`, undefined, signal);

/** One request by its whole path. Throws {@link Failure}. */
export function send<Result>(
  method: "GET" | "POST" | "DELETE",
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<Result> {
  const { token = "", client = "" } = readSession() ?? {};
  const headers = { authorization: `Bearer ${token}`, "x-labwright-client": client };
  if (body === undefined) return answerOf(path, { method, headers, signal: signal ?? null });
  const json = { ...headers, "content-type": "application/json" };
  return answerOf(path, { method, headers: json, body: JSON.stringify(body), signal: signal ?? null });
}

/** Says why a request failed in the server's own words. Aborts are passed on. */
export async function answerOf<Result>(path: string, init: RequestInit): Promise<Result> {
  const response = await fetch(path, init).catch((error: unknown) => {
    init.signal?.throwIfAborted();
    throw new Failure("OFFLINE", error instanceof Error ? error.message : String(error));
  });
  const body = await response.json().catch(() => undefined);
  if (response.ok && body !== undefined) return body;
  const { code, message, hint } = body?.error ?? {};
  throw new Failure(code ?? "OFFLINE", message ?? `The server answered ${response.status}.`, hint ?? "");
}
