import { runAgentCommand } from "@labwright/agent-client/cli";
import { afterEach } from "vitest";
import type { OpenAgent } from "#agent-client/openAgent.ts";
import type { Script } from "../../fixtures/fakeConversations.ts";
import { echoes, fakeClient, fakeConversations } from "./fakeClient.ts";
import { type FakeTerminal, fakeTerminal } from "./fakeTerminal.ts";

const started: { code: Promise<number>; terminal: FakeTerminal }[] = [];

/** `labwright chat` with these arguments, ended after the test. */
export function startChat(
  args: readonly string[],
  terminal: FakeTerminal,
  fake: ReturnType<typeof fakeConversations>,
  changes: Partial<OpenAgent> = {},
) {
  const { client, state } = fakeClient(fake.conversations, changes);
  const code: Promise<number> = runAgentCommand(["chat", ...args], terminal, async () => client);
  const running = { code, terminal, state, ...fake, output: () => terminal.written.out };
  started.push(running);
  return running;
}
/** `labwright chat` at a terminal. */
export const chat = (
  behave: Script = echoes,
  args: readonly string[] = [],
  changes: Partial<OpenAgent> = {},
) => startChat(args, fakeTerminal(), fakeConversations(behave), changes);

afterEach(async () => {
  for (const { code, terminal } of started.splice(0)) {
    // A chat that a failed test left behind is left as a person would.
    const stop = setInterval(() => terminal.interrupt(), 10);
    await code.finally(() => clearInterval(stop));
  }
});
