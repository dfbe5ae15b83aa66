import { expect, it } from "vitest";
import { fakeClock } from "../../fixtures/fakeClock.ts";
import { memoryStore } from "../../fixtures/memoryStore/memoryStore.ts";
import { describeStore, says } from "./contract.ts";

function open() {
  const clock = fakeClock();
  return { store: memoryStore(clock), advance: (ms: number) => clock.advance(ms) };
}

describeStore("the store in memory", open);

it("keeps what it was given apart from what its caller does with it later", async () => {
  const { store } = open();
  await store.createSession({ id: "s", agent: "assistant", owner: "o", title: "t" });
  const message = says(1, [{ type: "text", text: "as it was" }]);
  await store.append("s", "a", { messages: [message] });
  message.message.content = "changed";
  const [found] = await store.messages("s", { after: 0, limit: 1_000 });
  expect(found).toEqual(says(1, [{ type: "text", text: "as it was" }]));
  if (found) found.message.content = "changed too";
  expect(await store.messages("s", { after: 0, limit: 1_000 })).toEqual([
    says(1, [{ type: "text", text: "as it was" }]),
  ]);
});
