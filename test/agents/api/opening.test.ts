import { AgentError } from "@labwright/agent-client";
import { expect, it, onTestFinished } from "vitest";
import { bearer, startHttp } from "../../fixtures/http.ts";
import { wireServices } from "../../fixtures/wire.ts";

/** The daemon's HTTP side, whose agents cannot be opened. */
async function start(error: Error) {
  const http = await startHttp(wireServices(), [], { agents: () => Promise.reject(error) });
  onTestFinished(() => http.end());
  return (path: string) => fetch(http.url(path), { headers: bearer });
}

const paths = ["/server/agent/sessions", "/socket.io/?EIO=4&transport=polling"];

it.each(paths)("%s says what is wrong with the settings, and what to do", async (path) => {
  const get = await start(new AgentError("CONFIG_INVALID", "The secret is short.", "Set a longer one."));
  const answer = await get(path);
  expect([answer.status, await answer.json()]).toMatchObject([
    400,
    { error: { code: "CONFIG_INVALID", message: "The secret is short. Set a longer one." } },
  ]);
});

it.each(paths)("%s reports nothing of a fault of ours", async (path) => {
  const get = await start(new Error("the password is tulip"));
  const answer = await get(path);
  expect(answer.status).toBe(500);
  expect(await answer.text()).not.toContain("tulip");
});
