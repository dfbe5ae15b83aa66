import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Link } from "#controllers/android/link.ts";
import { type AndroidLab, startAndroidLab } from "../../fixtures/androidLab.ts";
import { never, openLink } from "./openAndroid.ts";

let lab: AndroidLab;
let first: Awaited<ReturnType<typeof openLink>>;
let second: Awaited<ReturnType<typeof openLink>>;

beforeAll(async () => {
  lab = await startAndroidLab({ devices: [{ persona: "phone" }, { persona: "phone2" }] });
  const [one = "", other = ""] = lab.devices.map(({ serial }) => serial);
  first = await openLink(lab.adbPort, one);
  second = await openLink(lab.adbPort, other);
});

afterAll(async () => {
  first.end();
  second.end();
  await lab.close();
});

const hostile = [
  "$(reboot)",
  "`reboot`",
  "; reboot",
  "a && reboot || reboot | cat",
  "it's \"quoted\" \\ and 'twice'",
  "two\nlines\r\nand\ttabs",
  " spaces  kept ",
  "",
  "-n",
  "~ * ? [a-z] {1,2} ! # % & < > $HOME",
  "emoji 😀 und Umläute, 日本語",
  "'\\''",
  "$'\\x41'",
  "\u0001\u001b[31m",
  "x".repeat(60_000),
];

describe("a command line", () => {
  it.each(hostile)("has the text %j arrive as it is", async (text) => {
    const { link } = first;
    const result = await link.run(["printf", "%s", text], never);
    expect(result).toMatchObject({ code: 0, stdout: text });
  });

  it("separates output, errors and exit code", async () => {
    const { link } = first;
    expect(await link.script("echo out; nosuchprogram; exit 3", never)).toMatchObject({
      code: 3,
      stdout: "out\n",
      stderr: expect.stringContaining("nosuchprogram"),
    });
    expect(await link.run(["nosuchprogram"], never)).toMatchObject({ code: 127 });
  });

  it("stops at the first that fails, of several", async () => {
    const result = await first.link.runAll([["echo", "a"], ["false"], ["echo", "b"]], never);
    expect(result).toMatchObject({ code: 1, stdout: "a\n" });
  });

  it("sends bytes and gets them back as they are", async () => {
    const stdin = randomBytes(3_000_000);
    const { stdout } = await first.link.bytes("cat", never, { stdin });
    expect(stdout.equals(stdin)).toBe(true);
  });

  it("refuses more output than it was to give", async () => {
    const work = first.link.bytes("cat", never, { stdin: randomBytes(100_000), mostBytes: 50_000 });
    await expect(work).rejects.toMatchObject({ code: "DEVICE_ERROR" });
  });
});

describe("a call", () => {
  it("ends at its deadline, and says so", async () => {
    const started = performance.now();
    const work = first.link.run(["sleep", "30"], never, { timeoutMs: 100 });
    await expect(work).rejects.toMatchObject({
      code: "DEVICE_ERROR",
      message: expect.stringContaining("100 ms"),
    });
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  it("ends when its signal aborts, with the signal's reason", async () => {
    const cancel = new AbortController();
    const work = first.link.run(["sleep", "30"], cancel.signal);
    cancel.abort(new Error("cancelled by the test"));
    await expect(work).rejects.toThrow("cancelled by the test");
    await expect(first.link.run(["true"], cancel.signal)).rejects.toThrow("cancelled by the test");
  });

  it("500 at once all give their own answer, each of its own device", async () => {
    const answers = await Promise.all(
      Array.from({ length: 500 }, async (_, at) => {
        const { link } = at % 2 === 0 ? first : second;
        const { stdout } = await link.script(`getprop ro.serialno; echo ${at}`, never, { timeoutMs: 60_000 });
        return stdout;
      }),
    );
    const serials = lab.devices.map(({ device }) => device.persona.properties["ro.serialno"]);
    expect(answers).toEqual(answers.map((_, at) => `${serials[at % 2]}\n${at}\n`));
  });
});

describe("a connection that is gone", () => {
  it("ends a call as TRANSPORT_LOST; the same link is never used again, a new one is", async () => {
    const [one] = lab.devices;
    if (!one) throw new Error("The laboratory has no device.");
    const work = first.link.run(["sleep", "30"], never);
    const outcome = expect(work).rejects.toMatchObject({ code: "TRANSPORT_LOST" });
    await first.link.run(["true"], never);
    one.device.adbd.drop();
    await outcome;
    expect(first.link.isCurrent()).toBe(false);
    await expect(first.link.run(["true"], never)).rejects.toMatchObject({ code: "TRANSPORT_LOST" });
    await lab.waitFor(one.serial, "device");
    await lab.reconnected(one.serial);
    first.end();
    first = await openLink(lab.adbPort, one.serial);
    expect(await first.link.run(["echo", "again"], never)).toMatchObject({ stdout: "again\n" });
  });

  it("is not taken for the next one of the same serial", async () => {
    const serial = lab.devices[0]?.serial ?? "";
    const other = new Link({ port: lab.adbPort, serial, transport: 999, isCurrent: () => true });
    await expect(other.run(["true"], never)).rejects.toMatchObject({ code: "TRANSPORT_LOST" });
  });
});
