import { expect, it } from "vitest";
import { besideVerdict, slowNotices } from "../../../../mcp-server/src/domain/index.ts";

it("a step that took most of its time is said to be slow, and no other", () => {
  expect(slowNotices("click_element", 3_500, 5_000)).toEqual([
    "SLOW: click_element took 3500 ms of its 5000 ms.",
  ]);
  expect(slowNotices("click_element", 3_499, 5_000)).toEqual([]);
  expect(slowNotices("click_element", 9_000, undefined)).toEqual([]);
  expect(slowNotices("click_element", 0, 0)).toEqual([]);
});

it("beside a verdict stand faults of the app, each once", () => {
  const many = Array.from({ length: 12 }, (_, at) => `HTTP_ERROR: GET /${at} (fetch) answered 500`);
  expect(besideVerdict(["a dialog", "SLOW: x", "SLOW: x", "BROWSER_RESTARTED: y"])).toEqual([
    "SLOW: x",
    "BROWSER_RESTARTED: y",
  ]);
  expect(besideVerdict(many)).toEqual([...many.slice(0, 10), "2 more in the steps of the run"]);
});
