import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createLog } from "../../mcp-server/src/observability/log.ts";

const folder = mkdtempSync(join(tmpdir(), "labwright-log-file-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const logTo = (file: string) => createLog({ level: "info", destination: { file }, mask: (text) => text });

test("a log file stays bounded while it is written, keeps the lines before the last ones, and its place", () => {
  const file = join(folder, "bounded.log");
  const { log, close } = logTo(file);
  log.info("first");
  const { ino } = statSync(file);
  const filler = "x".repeat(1_000_000);
  for (let at = 0; at < 25; at++) log.info({ at, filler }, "filler");
  log.info("last");
  close();
  const sizes = [file, `${file}.1`].map((name) => statSync(name).size);
  for (const size of sizes) expect(size).toBeLessThan(12_000_000);
  expect(readFileSync(file, "utf8")).toMatch(/"msg":"last"\}\n$/);
  const kept = (readFileSync(`${file}.1`, "utf8") + readFileSync(file, "utf8")).match(/"at":\d+/g) ?? [];
  expect(kept.length, "what is newest, without a gap").toBeGreaterThanOrEqual(10);
  expect(kept).toEqual(Array.from(kept, (_, index) => `"at":${25 - kept.length + index}`));
  expect(statSync(file).ino, "whoever holds it open goes on writing to it").toBe(ino);
});

test("a log that cannot be written, or is closed, ends nobody", () => {
  const { log, close } = logTo("/dev/full");
  expect(() => log.info("no room")).not.toThrow();
  close();
  close();
  expect(() => log.info("too late")).not.toThrow();
});
