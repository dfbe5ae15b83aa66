import { expect, it } from "vitest";
import type { CallContext, Run } from "../../../../mcp-server/src/services/ports.ts";
import { callContext } from "../../../fixtures/callContext.ts";
import { describeExecutions, gate, passing, spec, until } from "./world.ts";

describeExecutions("a run within a run", (t) => {
  const inside = (outer: Run): CallContext => callContext({ within: outer.id });

  it("starts at once on the device that the outer run has, as a part of it", async () => {
    const reply = await t.executions.run(
      { ...spec(), correlation_id: "nightly" },
      callContext(),
      async (outer) => {
        const inner = await t.executions.run(spec(), inside(outer), async (run) => passing(run));
        return {
          status: inner.status === "passed" ? "passed" : "error",
          output: { inner: inner.execution_id },
        };
      },
    );
    expect(reply.status).toBe("passed");
    const { execution } = await t.executions.get(reply.output?.inner ?? "");
    expect(execution).toMatchObject({ status: "passed", correlation_id: "nightly" });
  });

  it("keeps everybody else waiting, and ends with the outer run", async () => {
    const order: string[] = [];
    const held = gate();
    const outer = t.executions.run(spec(), callContext(), async (run) => {
      const inner = t.start(
        (part) => {
          order.push("inner");
          return new Promise((_, reject) => {
            part.signal.addEventListener("abort", () => {
              order.push("inner ended");
              reject(part.signal.reason);
            });
          });
        },
        {},
        inside(run),
      );
      await t.now(inner);
      await held.opened;
      return passing(run);
    });
    await until(
      async () => order.length,
      (length) => length === 1,
    );
    const next = t.executions.run(spec(), callContext(), async (run) => {
      order.push("next");
      return passing(run);
    });
    await until(
      async () => t.executions.running(),
      (count) => count === 3,
    );
    held.open();
    expect((await Promise.all([outer, next])).map(({ status }) => status)).toEqual(["passed", "passed"]);
    expect(order).toEqual(["inner", "inner ended", "next"]);
  });

  it("lets its parts have the device one after the other", async () => {
    let together = 0;
    let most = 0;
    await t.executions.run(spec(), callContext(), async (outer) => {
      const part = () =>
        t.executions.run(spec(), inside(outer), async (run) => {
          together += 1;
          most = Math.max(most, together);
          await new Promise((resolve) => setImmediate(resolve));
          together -= 1;
          return passing(run);
        });
      await Promise.all([part(), part(), part()]);
      return passing(outer);
    });
    expect(most).toBe(1);
  });
});
