import { describe, expect, it } from "vitest";
import { backendFrames, FrontendBuffer, greeting, refusal } from "#mcp-server/storage/engine/wire.ts";

function message(type: string, body: string): Buffer {
  const text = Buffer.from(body);
  const head = Buffer.alloc(5);
  head.write(type, 0);
  head.writeInt32BE(text.length + 4, 1);
  return Buffer.concat([head, text]);
}

const startup = Buffer.from([0, 0, 0, 9, 0, 3, 0, 0, 0]);
const query = message("P", "\0select 1\0");
const sync = message("S", "");

describe("the bytes of a client", () => {
  it("are cut into what is answered as a whole, however they arrive", () => {
    const all = Buffer.concat([startup, query, query, sync, message("Q", "select 1"), message("X", "")]);
    for (const size of [1, 2, 7, 13, all.length]) {
      const buffer = new FrontendBuffer();
      const parts = [];
      for (let at = 0; at < all.length; at += size) parts.push(...buffer.push(all.subarray(at, at + size)));
      expect(parts.map((part) => part.kind)).toEqual(["startup", "batch", "batch", "end"]);
      const batch = parts[1];
      expect(batch?.kind === "batch" && Buffer.from(batch.bytes)).toEqual(
        Buffer.concat([query, query, sync]),
      );
    }
  });

  it("that name a statement replace what another client prepared by that name", () => {
    const buffer = new FrontendBuffer();
    buffer.push(startup);
    const parse = message("P", "insert_step\0insert into steps\0");
    const [batch] = buffer.push(Buffer.concat([parse, sync]));
    expect(batch?.kind === "batch" && Buffer.from(batch.bytes)).toEqual(
      Buffer.concat([message("C", "Sinsert_step\0"), parse, sync]),
    );
  });

  it("are held back until a message that a server answers", () => {
    const buffer = new FrontendBuffer();
    buffer.push(startup);
    expect(buffer.push(query)).toEqual([]);
    expect(buffer.push(sync)).toHaveLength(1);
  });
});

describe("the bytes of a server", () => {
  it("greet with the settings that the driver reads, and are then ready", () => {
    const frames = [...backendFrames(greeting("18.0"))];
    expect(frames.map((frame) => frame.type).join("")).toBe("RSSSSSSKZ");
  });

  it("refuse with a code and are then ready for more", () => {
    const [error, ready] = [...backendFrames(refusal("55P03", "wait"))];
    expect(Buffer.from(error?.bytes ?? []).toString()).toContain("C55P03\0Mwait\0");
    expect(ready?.bytes.at(-1)).toBe("I".charCodeAt(0));
  });
});
