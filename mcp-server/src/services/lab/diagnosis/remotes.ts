import { atMost, type DiagnosisFinding } from "@labwright/controllers";
import { remoteToken } from "../../../config/agents.ts";
import type { Environment } from "../../../config/places.ts";
import type { Config } from "../../../config.ts";

const answerMs = 5_000;

/** Whether each server of agents.remotes answers and takes its token. One that does not is a warning: the others go on. */
export const checkRemotes = (
  remotes: Config["agents"]["remotes"],
  env: Environment,
  signal: AbortSignal,
): Promise<DiagnosisFinding[]> => Promise.all(remotes.map((remote) => checkRemote(remote, env, signal)));

async function checkRemote(
  { name, url, token }: Config["agents"]["remotes"][number],
  env: Environment,
  signal: AbortSignal,
): Promise<DiagnosisFinding> {
  const what = `remote ${name}`;
  const { origin } = new URL(url);
  const warning = (detail: string, fix: string): DiagnosisFinding => ({
    ...{ what, status: "warning", detail, fix },
  });
  const value = remoteToken(token, env);
  if (value === undefined)
    return warning(
      `its token has no value: ${"env" in token ? token.env : token.file}`,
      "Give it the token that daemon.json of the remote has",
    );
  try {
    const response = await fetch(new URL("/api/v1/health", url), {
      headers: { authorization: `Bearer ${value}` },
      redirect: "manual",
      signal: atMost(signal, answerMs),
    });
    await response.body?.cancel();
    if (response.ok) return { what, status: "ok", detail: `answers at ${origin}` };
    const fixes: Readonly<Record<number, string>> = {
      401: "Correct its token in agents.remotes",
      403: "Add the host of its url to server.allowed_hosts of the remote",
    };
    return warning(
      `${origin} answered HTTP ${response.status}`,
      fixes[response.status] ?? "Check that a Labwright server answers there",
    );
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    const why = cause instanceof Error ? cause.message : String(cause);
    return warning(`${origin} does not answer: ${why}`, "Start it, or correct its url in agents.remotes");
  }
}
