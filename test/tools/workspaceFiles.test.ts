import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { hasSandbox } from "../fixtures/sandbox.ts";

const outside = mkdtempSync(join(tmpdir(), "labwright-outside-"));
let product: Product;
let client: TestClient;
let folder: string;
beforeAll(async () => {
  writeFileSync(join(outside, "secret.txt"), "not yours");
  product = await openProduct("devices: [{ name: box, model: simulated }]", { PIN: "4711-secret" });
  client = await product.connect();
  folder = product.config.folders.workspace;
});
afterAll(async () => {
  await product.dispose();
  rmSync(outside, { recursive: true });
});

const files = (args: Record<string, unknown>) => client.call("workspace_files", args);

describe("workspace_files", () => {
  test("writes, reads, lists and deletes", async () => {
    const path = "notes/today/a.txt";
    const written = await files({ operation: "write", path, content: "one\nzwei — ✓\n" });
    expect(written.structured).toMatchObject({ path, created: true, bytes: 17 });
    expect((await files({ operation: "write", path, content: "one\n" })).structured).toMatchObject({
      created: false,
      bytes: 4,
    });
    expect((await files({ operation: "read", path })).structured).toEqual({ path, content: "one\n" });
    expect((await files({ operation: "read", path: `/workspace/${path}` })).structured.content).toBe("one\n");
    expect((await files({ operation: "list", path: "notes" })).structured.entries).toEqual([
      { name: "today", kind: "folder" },
    ]);
    expect((await files({ operation: "list", path: "notes/today" })).structured.entries).toEqual([
      { name: "a.txt", kind: "file", bytes: 4 },
    ]);
    const asked = await files({ operation: "delete", path: "notes" });
    expect(asked.error).toMatchObject({
      code: "CONFIRMATION_REQUIRED",
      message: expect.stringContaining("with all that is in it"),
      details: { would_delete: ["notes"] },
    });
    expect((await files({ operation: "delete", path: "notes", confirm: true })).structured).toMatchObject({
      deleted: true,
    });
    expect((await files({ operation: "list" })).structured.entries).not.toContainEqual(
      expect.objectContaining({ name: "notes" }),
    );
  });

  test.each([
    "../labwright.yaml",
    "a/../../labwright.yaml",
    "/etc/passwd",
    "~/x",
    "C:/x",
    "a\\..\\x",
    "a\0b",
    "/workspace/../labwright.yaml",
    "x/".repeat(40),
  ])("refuses the path %j", async (path) => {
    for (const args of [
      { operation: "read" },
      { operation: "write", content: "x" },
      { operation: "list" },
      { operation: "delete", confirm: true },
    ])
      expect((await files({ ...args, path })).error, JSON.stringify(args)).toMatchObject({
        code: "PATH_DENIED",
      });
  });

  test("follows no link, whether it is the file or a folder on the way", async () => {
    await files({ operation: "write", path: "links/x.txt", content: "mine" });
    symlinkSync(outside, join(folder, "links", "out"));
    symlinkSync(join(outside, "secret.txt"), join(folder, "links", "file"));
    for (const path of ["links/file", "links/out/secret.txt"]) {
      expect((await files({ operation: "read", path })).error).toMatchObject({ code: "PATH_DENIED" });
      expect((await files({ operation: "write", path, content: "x" })).error?.code).toMatch(
        /PATH_DENIED|INVALID_INPUT/,
      );
    }
    expect((await files({ operation: "list", path: "links/out" })).error).toMatchObject({
      code: "PATH_DENIED",
    });
    expect((await files({ operation: "list", path: "links" })).structured.entries).toEqual([
      { name: "file", kind: "link" },
      { name: "out", kind: "link" },
      { name: "x.txt", kind: "file", bytes: 4 },
    ]);
    expect((await files({ operation: "delete", path: "links", confirm: true })).structured.deleted).toBe(
      true,
    );
    expect(readFileSync(join(outside, "secret.txt"), "utf8")).toBe("not yours");
  });

  test("says what is missing, too large, no file, no text, or not asked for", async () => {
    await files({ operation: "write", path: "kinds/report.txt", content: "x" });
    writeFileSync(join(folder, "kinds", "picture.png"), Buffer.from([0x89, 0x50, 0xff, 0xfe]));
    writeFileSync(join(folder, "kinds", "large.txt"), "x".repeat(5_000_001));
    const refused: [Record<string, unknown>, string, string][] = [
      [{ operation: "read", path: "kinds/reprot.txt" }, "FILE_NOT_FOUND", "report.txt"],
      [{ operation: "delete", path: "kinds/reprot.txt", confirm: true }, "FILE_NOT_FOUND", "report.txt"],
      [{ operation: "list", path: "kindz" }, "FILE_NOT_FOUND", "kinds"],
      [{ operation: "read", path: "kinds" }, "INVALID_INPUT", "list"],
      [{ operation: "list", path: "kinds/report.txt" }, "INVALID_INPUT", "not a folder"],
      [{ operation: "write", path: "kinds", content: "x" }, "INVALID_INPUT", "not a file"],
      [{ operation: "write", path: "kinds/report.txt/x", content: "x" }, "INVALID_INPUT", "not a folder"],
      [{ operation: "read", path: "kinds/picture.png" }, "INVALID_INPUT", "UTF-8"],
      [{ operation: "read", path: "kinds/large.txt" }, "INPUT_TOO_LARGE", "5000000"],
      [{ operation: "write", path: "x" }, "INVALID_INPUT", "content"],
      [{ operation: "read", path: "x", content: "x" }, "INVALID_INPUT", "content"],
      [{ operation: "read", path: "" }, "PATH_DENIED", "workspace itself"],
      [{ operation: "delete", path: ".", confirm: true }, "PATH_DENIED", "workspace itself"],
      [{ operation: "move", path: "x" }, "INVALID_INPUT", "operation"],
    ];
    for (const [args, code, part] of refused) {
      const { error } = await files(args);
      expect(error, JSON.stringify(args)).toMatchObject({ code });
      expect(`${error?.message} ${error?.hint}`).toContain(part);
    }
  });

  test("cuts what is long and says how much is left", async () => {
    const content = Array.from({ length: 1_000 }, (_, line) => `line ${line}`).join("\n");
    await files({ operation: "write", path: "long.txt", content });
    const { structured } = await files({ operation: "read", path: "long.txt", max_tokens: 100 });
    const lines = String(structured.content).split("\n").length;
    expect(lines + Number(structured.more)).toBe(1_000);
    expect((await files({ operation: "read", path: "long.txt", max_tokens: 20_000 })).structured).toEqual({
      path: "long.txt",
      content,
    });
  });

  test("gives back no secret", async () => {
    await files({ operation: "write", path: "pin.txt", content: "http://me:word@host/ 4711-secret" });
    expect((await files({ operation: "read", path: "pin.txt" })).structured.content).toBe(
      "http://me:word@host/ [secret PIN]",
    );
  });

  test.runIf(hasSandbox)("says what does not parse in code that it wrote", async () => {
    const written: [string, string, RegExp | undefined][] = [
      ["a.py", "def f(:\n", /SyntaxError/],
      ["b.py", "def f():\n    return 1\n", undefined],
      ["a.mjs", "export const = 1;", /SyntaxError/],
      ["b.mjs", "export const a = await 1;", undefined],
      ["a.sh", "if true; then", /syntax error/],
      ["a.json", '{"a": ', /JSON/],
      ["b.json", "{}", undefined],
    ];
    for (const [path, content, problem] of written) {
      const { structured } = await files({ operation: "write", path, content });
      if (problem) expect(structured.problem, path).toMatch(problem);
      else expect(structured, path).not.toHaveProperty("problem");
    }
  });
});
