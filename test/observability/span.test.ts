import { setImmediate as tick } from "node:timers/promises";
import { expect, it } from "vitest";
import {
  currentTraceId,
  parseTraceparent,
  span,
  traceparent,
  withTraceparent,
} from "../../mcp-server/src/observability/index.ts";

const given = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

it("starts a trace when there is none and keeps it below, over awaits, apart from others", async () => {
  const seen = await Promise.all(
    [1, 2, 3].map(() =>
      span("outer", {}, async (current) => {
        await tick();
        const inner = await span("inner", {}, async () => {
          await tick();
          return currentTraceId();
        });
        expect(inner).toBe(current.spanContext().traceId);
        return inner;
      }),
    ),
  );
  expect(new Set(seen).size).toBe(3);
  for (const id of seen) expect(id).toMatch(/^[0-9a-f]{32}$/);
  expect(currentTraceId()).toBeUndefined();
  expect(traceparent()).toBeUndefined();
});

it("goes on with the trace of a traceparent and hands it on", async () => {
  const handed = await withTraceparent(given, () => span("call", {}, async () => traceparent()));
  expect(handed).toMatch(/^00-4bf92f3577b34da6a3ce929d0e0e4736-[0-9a-f]{16}-0[01]$/);
});

it.each([
  undefined,
  "",
  "00-zz-1-01",
  `${given}-more`,
  given.replace(/^00/, "ff"),
  `00-${"0".repeat(32)}-00f067aa0ba902b7-01`,
])("takes %s for no traceparent", async (header) => {
  expect(parseTraceparent(header ?? "")).toBeUndefined();
  const id = await withTraceparent(header, () => span("call", {}, async () => currentTraceId()));
  expect(id).toMatch(/^[0-9a-f]{32}$/);
  expect(id).not.toContain("4bf92f");
});

it("reads a traceparent of a later version that has more fields", () => {
  expect(parseTraceparent(`${given.replace(/^00/, "01")}-more`)?.traceId).toBe(
    "4bf92f3577b34da6a3ce929d0e0e4736",
  );
});

it("passes results and errors through", async () => {
  await expect(span("a", {}, async () => 7)).resolves.toBe(7);
  await expect(span("a", {}, () => Promise.reject(new Error("mine")))).rejects.toThrow("mine");
});
