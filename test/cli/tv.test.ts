import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { listenOn } from "../lab/tv/remotes/listen.ts";
import { startWebos } from "../lab/tv/remotes/webos.ts";
import { run, temporaryFolder } from "./fixtures.ts";

/** A TV named lounge in the configuration of a data directory of its own. */
async function labOf(port: number) {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const config = join(folder.path, "labwright.yaml");
  await writeFile(
    config,
    `devices:
  - { name: lounge, model: stb, controllers: { webos: { address: 127.0.0.1, port: ${port}, secure: false } } }
  - { name: box, model: simulated }
`,
  );
  const given = ["--data-dir", folder.path, "--config", config];
  return {
    pair: (device: string, more: Parameters<typeof run>[1] = {}) =>
      run(["tv", "pair", device, ...given], more),
    pairings: join(folder.path, "pairings"),
  };
}

async function startTv() {
  const tv = await startWebos();
  onTestFinished(() => tv.close().catch(() => undefined));
  return tv;
}

it("labwright tv pair stores the TV's token for this user alone, shows it nowhere, and names what is wrong", async () => {
  const { tv, port, close } = await startTv();
  const { pair, pairings } = await labOf(port);
  const paired = await pair("lounge");
  expect(paired).toMatchObject({
    code: 0,
    out: expect.stringContaining("Paired lounge (webos)"),
    err: expect.stringContaining("accept it"),
  });
  expect(paired.out + paired.err).not.toContain(tv.key);
  const file = join(pairings, "lounge.webos.json");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(pairings)).mode & 0o777).toBe(0o700);
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ token: tv.key });
  expect(await pair("loung")).toMatchObject({ code: 2, err: expect.stringContaining("lounge") });
  expect(await pair("box")).toMatchObject({ code: 2, err: expect.stringContaining("webos and samsung") });
  tv.accepts = false;
  tv.key = "";
  expect(await pair("lounge")).toMatchObject({
    code: 2,
    err: expect.stringContaining("DEVICE_UNAUTHORIZED"),
  });
  await close();
  expect(await pair("lounge")).toMatchObject({ code: 2, err: expect.stringContaining("DEVICE_OFFLINE") });
});

it("labwright tv pair again replaces the token, with the same rights of the file", async () => {
  const { tv, port } = await startTv();
  const { pair, pairings } = await labOf(port);
  expect((await pair("lounge")).code).toBe(0);
  const file = join(pairings, "lounge.webos.json");
  const before = await readFile(file, "utf8");
  // The TV has forgotten this server, and gives another token.
  tv.key = "";
  tv.nextKey = "another-token";
  expect((await pair("lounge")).code).toBe(0);
  expect(await readFile(file, "utf8")).not.toBe(before);
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ token: "another-token" });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readdir(pairings)).toEqual(["lounge.webos.json"]);
});

it("labwright tv pair ends at Ctrl-C while the TV asks or answers nothing, and keeps no token", async () => {
  const { tv, port } = await startTv();
  tv.isSilent = true;
  const { pair, pairings } = await labOf(port);
  const cancel = new AbortController();
  const asking = pair("lounge", { signal: cancel.signal, onErr: () => cancel.abort() });
  expect(await asking).toMatchObject({ code: 130, err: expect.stringContaining("accept it") });
  await expect(readdir(pairings)).rejects.toThrow("ENOENT");
  const deaf = await listenOn(createServer());
  onTestFinished(() => deaf.close());
  const unheard = await labOf(deaf.port);
  const waiting = new AbortController();
  const ended = unheard.pair("lounge", { signal: waiting.signal });
  setTimeout(() => waiting.abort(), 200);
  expect(await ended).toMatchObject({ code: 130, out: "" });
});

it("labwright tv pair --help says what is paired, and by whom", async () => {
  const { code, out } = await run(["tv", "pair", "--help"]);
  expect(code).toBe(0);
  expect(out).toMatch(/LG \(webos\) or Samsung TV accept this server[\s\S]*its own\s+remote/);
  expect(out).toContain("labwright tv pair living-room");
});
