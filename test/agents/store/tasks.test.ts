import { afterAll, beforeAll } from "vitest";
import { type AgentServer, startAgentServer } from "../../fixtures/agentServer.ts";
import { fakeClock } from "../../fixtures/fakeClock.ts";
import { memoryTasks } from "../../fixtures/memoryStore/memoryTasks.ts";
import { describeTasks } from "./taskContract.ts";

let server: AgentServer;
beforeAll(async () => {
  server = await startAgentServer();
});
afterAll(() => server.end());

describeTasks("in the database", () => ({
  store: server.store,
  advance: (ms) => server.clock.advance(ms),
}));

describeTasks("in memory", () => {
  const clock = fakeClock();
  return { store: memoryTasks(clock), advance: (ms) => clock.advance(ms) };
});
