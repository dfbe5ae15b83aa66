import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import {
  type Bench,
  buildWire,
  isAlive,
  kill,
  startHostProcess,
  wireBench,
  within,
} from "../fixtures/daemon.ts";

let folder = "";
const open: Bench[] = [];
beforeAll(async () => {
  folder = await buildWire();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((bench) => bench.end()));
});

async function bench(settings: Parameters<typeof wireBench>[1] = {}): Promise<Bench> {
  const made = await wireBench(folder, settings);
  open.push(made);
  return made;
}

vi.setConfig({ testTimeout: 240_000 });
const quick = { name: "x", ms: 0 };

/** The pid of the daemon that answers now. */
async function daemonPid(of: Bench): Promise<number> {
  await expect.poll(() => of.daemon()?.pid, within).toBeDefined();
  return of.daemon()?.pid ?? 0;
}

describe("two hosts at once", () => {
  it("share one daemon, also when both start it", async () => {
    const { host, daemon, lines } = await bench();
    const [a, b] = await Promise.all([host("claude"), host("cursor")]);
    const [one, two] = await Promise.all([a.call("read_slowly", quick), b.call("read_slowly", quick)]);
    expect(one.structured.pid).toBe(daemon()?.pid);
    expect(two.structured.pid).toBe(daemon()?.pid);
    expect(lines("events").filter((line) => line.startsWith("up"))).toHaveLength(1);
  });

  it("are distinct clients for the daemon", async () => {
    const { host } = await bench();
    const [a, b] = await Promise.all([host("claude"), host("cursor", { era: "auto" })]);
    const one = await a.call("write_slowly", { name: "a", ms: 0 });
    const two = await b.call("write_slowly", { name: "b", ms: 0 });
    expect(one.structured.client).toMatch(/^claude\/[\da-f]{8}$/);
    expect(two.structured.client).toMatch(/^cursor\/[\da-f]{8}$/);
  });
});

describe("the listings", () => {
  it("need no daemon", async () => {
    const { host } = await bench({ refuse: "labwright.yaml:3:1: no such key" });
    const { client, call } = await host();
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["read_slowly", "write_slowly"]);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toContain("artifact://{sha256}");
    // And a daemon that cannot start says why, in its own words.
    const { error } = await call("read_slowly", quick);
    expect(error).toMatchObject({
      code: "DAEMON_UNAVAILABLE",
      message: "labwright.yaml:3:1: no such key",
      hint: "Mend it.",
    });
  });
});

describe("a message that is too large", () => {
  it("is refused with what to do, and the connection lives on", async () => {
    const of = await bench();
    const { call } = await of.host();
    const { error } = await call("write_slowly", { name: "x".repeat(9_000_000), ms: 0 });
    expect(error).toMatchObject({ code: "INPUT_TOO_LARGE", hint: "Send less at a time." });
    expect((await call("read_slowly", quick)).structured.writes).toEqual([]);
  });
});

describe("an option that the bridge does not know", () => {
  it("ends it with its usage on stderr, and nothing on stdout", async () => {
    const child = spawn(process.execPath, [join(folder, "run.js"), "--data-dri", "x"]);
    const said = { out: "", err: "" };
    child.stdout.on("data", (part: Buffer) => {
      said.out += part.toString();
    });
    child.stderr.on("data", (part: Buffer) => {
      said.err += part.toString();
    });
    const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
    expect(code).toBe(2);
    expect(said.out).toBe("");
    expect(said.err).toContain("--data-dri");
    expect(said.err).toContain("--data-dir DIR");
  });
});

describe("a daemon killed with -9", () => {
  it("is started again at once by a living bridge", async () => {
    const of = await bench();
    const { call } = await of.host();
    await call("read_slowly", quick);
    const before = await daemonPid(of);
    kill(before, "SIGKILL");
    await expect.poll(() => of.daemon()?.pid ?? before, within).not.toBe(before);
    expect((await call("read_slowly", quick)).isError).toBe(false);
  });

  it("in a call that may be repeated: the call succeeds on the next daemon", async () => {
    const of = await bench();
    const { call } = await of.host();
    const pending = call("read_slowly", { name: "r", ms: 1_000 });
    await expect.poll(() => of.lines("calls"), within).toContain("read r");
    const before = await daemonPid(of);
    kill(before, "SIGKILL");
    const reply = await pending;
    expect(reply.isError).toBe(false);
    expect(reply.structured.pid).not.toBe(before);
  });

  it("in a call that may have acted: it is not run twice, and its outcome is said to be unknown", async () => {
    const of = await bench();
    const { call } = await of.host();
    const pending = call("write_slowly", { name: "once", ms: 30_000, idempotency_key: "k1" });
    await expect.poll(() => of.lines("calls"), within).toContain("write once");
    kill(await daemonPid(of), "SIGKILL");
    const { error } = await pending;
    expect(error).toMatchObject({ code: "OUTCOME_UNKNOWN", details: { idempotency_key: "k1" } });
    expect(error?.hint).toContain("Look before you act");
    const again = await call("write_slowly", { name: "once", ms: 30_000, idempotency_key: "k1" });
    expect(again.error?.code).toBe("OUTCOME_UNKNOWN");
    expect(of.lines("writes")).toEqual(["once"]);
  });

  it("between two calls loses no finished one: its key gives the result back", async () => {
    const of = await bench();
    const { call } = await of.host();
    const args = { name: "kept", ms: 0, idempotency_key: "k2" };
    const first = await call("write_slowly", args);
    const before = await daemonPid(of);
    kill(before, "SIGKILL");
    const again = await call("write_slowly", args);
    expect(again.structured).toEqual(first.structured);
    expect(again.structured.pid).toBe(before);
    expect(of.lines("writes")).toEqual(["kept"]);
  });

  it("leaves the place to the next one, whose file names it", async () => {
    const of = await bench();
    const first = await of.host();
    await first.call("read_slowly", quick);
    const before = await daemonPid(of);
    await first.close();
    kill(before, "SIGKILL");
    const { call } = await of.host();
    expect((await call("read_slowly", quick)).structured.pid).not.toBe(before);
  });
});

describe("a daemon that is asked to end", () => {
  it("answers what is under way, and removes its file", async () => {
    const of = await bench();
    const { call } = await of.host();
    const pending = call("write_slowly", { name: "last", ms: 300 });
    await expect.poll(() => of.lines("calls"), within).toContain("write last");
    const pid = await daemonPid(of);
    kill(pid, "SIGTERM");
    expect((await pending).structured.pid).toBe(pid);
    await expect.poll(() => isAlive(pid), within).toBe(false);
    expect(of.daemon()).toBeUndefined();
    expect(of.lines("writes")).toEqual(["last"]);
    expect((await call("read_slowly", quick)).isError).toBe(false);
  });
});

describe("whoever ends", () => {
  it("a killed bridge: its call is cancelled and what it held is given back", async () => {
    const of = await bench();
    const { call, pid } = await of.host("claude");
    call("write_slowly", { name: "w", ms: 30_000 }).catch(() => {});
    await expect.poll(() => of.lines("calls"), within).toContain("write w");
    kill(pid, "SIGKILL");
    await expect.poll(() => of.lines("aborted"), within).toHaveLength(1);
    await expect.poll(() => of.lines("events").join(), within).toMatch(/ended claude\/[\da-f]{8}/);
  });

  it("a cancelled call reaches the tool", async () => {
    const of = await bench();
    const { call } = await of.host();
    const stop = new AbortController();
    const pending = expect(call("write_slowly", { name: "c", ms: 30_000 }, stop.signal)).rejects.toThrow();
    await expect.poll(() => of.lines("calls"), within).toContain("write c");
    stop.abort();
    await pending;
    await expect.poll(() => of.lines("aborted"), within).toHaveLength(1);
  });

  it("a killed host leaves no process once the daemon is idle", async () => {
    const of = await bench({ idleMs: 300 });
    const host = startHostProcess([join(folder, "run.js"), "--data-dir", of.dataDir]);
    const bridge = Number(
      await new Promise<string>((resolve) => host.stdout?.once("data", (d) => resolve(String(d)))),
    );
    const daemon = await daemonPid(of);
    host.kill("SIGKILL");
    await expect.poll(() => isAlive(bridge), within).toBe(false);
    await expect.poll(() => isAlive(daemon), within).toBe(false);
    expect(of.processes()).toEqual([]);
    expect(of.daemon()).toBeUndefined();
    expect(of.lines("events").at(-1)).toBe("stop idle");
  });

  it.each(["lease", "deployment", "watched", "agent"])("a daemon with a %s stays", async (held) => {
    const of = await bench({ idleMs: 50 });
    writeFileSync(join(of.dataDir, held), "");
    const first = await of.host();
    const { structured } = await first.call("read_slowly", quick);
    await first.close();
    await expect.poll(() => of.lines("events").join(), within).toContain("ended");
    const second = await of.host();
    expect((await second.call("read_slowly", { name: "x", ms: 300 })).structured.pid).toBe(structured.pid);
  });
});

describe("whose settings and build count", () => {
  const newer = { hash: "newer", at: "2027-01-01T00:00:00.000Z" };
  const older = { hash: "older", at: "2020-01-01T00:00:00.000Z" };
  const asBuild = (of: Bench, build: object) =>
    writeFileSync(join(of.dataDir, "build.json"), JSON.stringify(build));
  const asThis = (of: Bench) => asBuild(of, { hash: "wire", at: "2026-01-01T00:00:00.000Z" });

  function startOther(of: Bench, build: object): Promise<number> {
    asBuild(of, build);
    return of.startDaemon();
  }

  it("a newer build replaces an idle daemon", async () => {
    const of = await bench();
    const before = await startOther(of, older);
    asThis(of);
    const { call } = await of.host();
    const reply = await call("read_slowly", quick);
    expect(reply.isError).toBe(false);
    expect(reply.structured.pid).not.toBe(before);
    expect(of.lines("events")).toContain("stop replaced by a newer build");
  });

  it("a busy daemon of an older build is left alone, with both builds and what to do", async () => {
    const of = await bench();
    writeFileSync(join(of.dataDir, "lease"), "");
    await startOther(of, older);
    const { call } = await of.host();
    const { error } = await call("read_slowly", quick);
    expect(error?.code).toBe("DAEMON_MISMATCH");
    expect(error?.message).toMatch(/older.*wire/);
    expect(error?.hint).toContain("labwright stop");
  });

  it("an older bridge never replaces a newer daemon", async () => {
    const of = await bench();
    await startOther(of, newer);
    const { call } = await of.host();
    const { error } = await call("read_slowly", quick);
    expect(error?.code).toBe("DAEMON_MISMATCH");
    expect(error?.hint).toContain("Restart the program");
  });

  it("a bridge that names another config file gets DAEMON_MISMATCH", async () => {
    const of = await bench();
    const first = await of.host();
    await first.call("read_slowly", quick);
    const file = join(of.dataDir, "other.yaml");
    writeFileSync(file, "{}");
    const { call } = await of.host("host", { args: ["--config", file] });
    const { error } = await call("read_slowly", quick);
    expect(error?.code).toBe("DAEMON_MISMATCH");
    expect(error?.message).toContain("other.yaml");
    expect(error?.hint).toContain("labwright stop");
  });
});
