import { deflateRawSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { maskTrace } from "#mcp-server/services/devices/recordings/index.ts";
import { changeZip } from "#mcp-server/services/devices/recordings/zip.ts";
import { testSecrets } from "../../../fixtures/simulated.ts";

/** An archive of the two ways to store, written by Python's zipfile, with a comment and a name in UTF-8. */
const written = Buffer.from(
  [
    "UEsDBBQAAAAAAAAAIQCYU4a1EgAAABIAAAAJAAAAcGxhaW4udHh0c3RvcmVkIDQ3MTEtc2VjcmV0UEsDBBQAAAgIAAAAIQAH",
    "yDO3DgAAAF4BAAARAAAAw7xidW5nL3BhY2tlZC50eHQrSEzOTk1RKBilaEEBAFBLAwQUAAAACAAAACEAAAAAAAIAAAAAAAAA",
    "CQAAAGVtcHR5LnR4dAMAUEsBAhQDFAAAAAAAAAAhAJhThrUSAAAAEgAAAAkAAAAAAAAAAAAAAIABAAAAAHBsYWluLnR4dFBL",
    "AQIUAxQAAAgIAAAAIQAHyDO3DgAAAF4BAAARAAAAAAAAAAAAAACAATkAAADDvGJ1bmcvcGFja2VkLnR4dFBLAQIUAxQAAAAI",
    "AAAAIQAAAAAAAgAAAAAAAAAJAAAAAAAAAAAAAACAAXYAAABlbXB0eS50eHRQSwUGAAAAAAMAAwCtAAAAnwAAAAkAYSBjb21t",
    "ZW50",
  ].join(""),
  "base64",
);

/** Names and contents of an archive. */
async function read(zip: Buffer): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  await changeZip(zip, (name, content) => {
    files[name] = content.toString("latin1");
    return content;
  });
  return files;
}

const contents = {
  "plain.txt": "stored 4711-secret",
  "übung/packed.txt": "packed ".repeat(50),
  "empty.txt": "",
};

describe("an archive", () => {
  it("of another writer is read", async () => {
    expect(await read(written)).toEqual(contents);
  });

  it("keeps all files that are not changed, and has those that are", async () => {
    const changed = await changeZip(written, (name, content) =>
      name === "plain.txt" ? Buffer.from("new") : content,
    );
    expect(await read(changed)).toEqual({ ...contents, "plain.txt": "new" });
  });

  it("is refused when it is damaged", async () => {
    const noEnd = written.subarray(0, written.length - 30);
    const directory = Buffer.from(written);
    directory.writeUInt32LE(0, directory.indexOf("PK\u0001\u0002", 0, "latin1"));
    for (const zip of [Buffer.from("no archive"), noEnd, directory])
      await expect(changeZip(zip, (_, content) => content)).rejects.toThrow(/archive/);
  });

  it("that unpacks to more than it says is refused", async () => {
    const bomb = Buffer.from(written);
    const packed = deflateRawSync(Buffer.from("packed ".repeat(50)));
    const at = bomb.indexOf(packed);
    expect(at).toBeGreaterThan(0);
    const line = bomb.indexOf("PK\u0001\u0002", bomb.indexOf("PK\u0001\u0002", 0, "latin1") + 1, "latin1");
    bomb.writeUInt32LE(5, line + 24);
    await expect(changeZip(bomb, (_, content) => content)).rejects.toThrow();
    bomb.writeUInt32LE(1_500_000_000, line + 24);
    await expect(changeZip(bomb, (_, content) => content)).rejects.toThrow(/1500000/);
  });

  it("loses its secrets, but no picture is touched", async () => {
    const masked = await maskTrace(written, testSecrets({ PIN: "4711-secret" }));
    expect((await read(masked))["plain.txt"]).toBe("stored [secret PIN]");
    expect(await maskTrace(written, testSecrets({ OTHER: "not in it" }))).toEqual(
      await changeZip(written, (_, content) => content),
    );
  });
});
