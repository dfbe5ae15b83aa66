import { expect, it } from "vitest";
import { Exchange } from "#controllers/wire/exchange.ts";
import { never } from "../remotes/openRemote.ts";
import { withoutWaiting } from "../remotes/remoteContract.ts";

/** An exchange with a place that says what the test has it say. */
function exchangeWith() {
  let say: (message: string) => void = () => {};
  let end = () => {};
  let isOpen = true;
  const sent: string[] = [];
  const exchange = new Exchange(
    {
      async send(message) {
        sent.push(message);
        return sent.length;
      },
      onMessage: (listener) => {
        say = listener;
      },
      onClose: (listener) => {
        end = listener;
      },
      isOpen: () => isOpen,
      close: () => {
        isOpen = false;
      },
    },
    { name: "the box", check: "Switch it on." },
  );
  const ask = (message: string, signal = never) => exchange.ask(message, (answer) => answer, signal);
  return { exchange, ask, sent, say: (message: string) => say(message), end: () => end() };
}

it("a question without an answer ends the connection, so that a late answer is not taken for the next one", async () => {
  const { exchange, ask, sent, say } = exchangeWith();
  await expect(withoutWaiting(() => ask("first"))).rejects.toMatchObject({ code: "COMMAND_TIMEOUT" });
  expect(exchange.isOpen()).toBe(false);
  say("answer to the first");
  await expect(ask("second")).rejects.toMatchObject({ code: "DEVICE_OFFLINE", dispatched: "no" });
  expect(sent).toEqual(["first"]);
});

it("a question that is cancelled is answered before the next one is sent", async () => {
  const { ask, sent, say } = exchangeWith();
  const cancel = new AbortController();
  const first = ask("first", cancel.signal);
  await expect.poll(() => sent).toEqual(["first"]);
  cancel.abort(new Error("cancelled"));
  await expect(first).rejects.toThrow("cancelled");
  const second = ask("second");
  say("answer to the first");
  await expect.poll(() => sent).toEqual(["first", "second"]);
  say("answer to the second");
  expect((await second).answer).toBe("answer to the second");
});

it("what comes before a question is no answer to it, and a lost connection says so", async () => {
  const { exchange, ask, sent, say, end } = exchangeWith();
  say("welcome");
  const first = ask("first");
  await expect.poll(() => sent).toEqual(["first"]);
  say("answer");
  expect((await first).answer).toBe("answer");
  say("by itself");
  expect(await exchange.expect((message) => message, 1_000, never)).toBe("by itself");
  const second = ask("second");
  await expect.poll(() => sent).toHaveLength(2);
  end();
  await expect(second).rejects.toMatchObject({ code: "TRANSPORT_LOST" });
});
