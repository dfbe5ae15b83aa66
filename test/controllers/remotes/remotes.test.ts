import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  DispatchRecord,
  globalCacheFactory,
  homeAssistantFactory,
  kodiFactory,
  pairTv,
  rokuFactory,
  samsungFactory,
  webosFactory,
} from "@labwright/controllers";
import LGTV from "lgtv2";
import { RokuClient } from "roku-client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { controllerContext } from "../../fixtures/controllerContext.ts";
import { startGlobalCache } from "../../lab/tv/remotes/globalCache.ts";
import { startHomeAssistant, startKodiRpc } from "../../lab/tv/remotes/jsonServers.ts";
import { startRoku } from "../../lab/tv/remotes/roku.ts";
import { startSamsung } from "../../lab/tv/remotes/samsung.ts";
import { startWebos } from "../../lab/tv/remotes/webos.ts";
import { controllerContract } from "../contract.ts";
import { makeRemote, never } from "./openRemote.ts";

const address = "127.0.0.1";
const reach = controllerContext("lab/tv");

/** How a command fails, and whether its input was sent. */
async function failureOf(work: () => Promise<unknown>) {
  const inputs = new DispatchRecord();
  const failure = await inputs.run(work).then(
    () => undefined,
    (error: unknown) => error,
  );
  return { failure, dispatched: inputs.dispatched };
}

controllerContract("the driver roku", async () => {
  const tv = await startRoku();
  const { remote } = makeRemote(rokuFactory, { address, port: tv.port });
  const endless = { command: "hold_key", params: { key: "UP", ms: 30_000 } };
  return { controller: remote, factory: rokuFactory, endless, dispose: () => tv.close() };
});

describe("a Roku", () => {
  let tv: Awaited<ReturnType<typeof startRoku>>;
  beforeAll(async () => {
    tv = await startRoku();
  });
  afterAll(() => tv.close());
  const open = async () => {
    const made = makeRemote(rokuFactory, { address, port: tv.port });
    await made.remote.open(never);
    return made;
  };

  it("is one to a client of others", async () => {
    const client = new RokuClient(`http://${address}:${tv.port}`);
    await client.keypress("Up");
    expect(tv.keys.splice(0)).toEqual(["Up"]);
    expect((await client.apps()).map(({ id }) => id)).toEqual(["12", "13"]);
  });

  it("gets keys, holds them, opens and leaves apps, and says what it is", async () => {
    const { remote, run, press } = await open();
    expect(remote.facts?.()).toEqual({ make: "Roku Roku Ultra", version: "14.0.4" });
    expect(await press("OK")).toMatchObject({ message: "pressed OK", sentAt: expect.any(Number) });
    await run("press_sequence", { keys: ["UP", "BACK"] });
    await run("hold_key", { key: "DOWN", ms: 50 });
    expect(tv.keys.splice(0)).toEqual(["Select", "Up", "Back", "keydown Down", "keyup Down"]);
    await run("open_app", { app: "12" });
    expect(tv.front()).toBe("12");
    await run("close_app", { app: "13" });
    expect(tv.front()).toBe("12");
    await run("close_app", { app: "12" });
    expect(tv.front()).toBe("0");
    expect((await remote.apps?.installedApps(never))?.apps).toContainEqual({
      id: "13",
      name: "Tom & Co",
      version: "1.0",
    });
    const unknown = await failureOf(() => press("VOLUME_UPP"));
    expect(unknown).toMatchObject({
      dispatched: "no",
      failure: { code: "INVALID_PARAMS", message: expect.stringContaining("VOLUME_UP") },
    });
    tv.keys.length = 0;
  });

  it("lets a key go when the command that holds it is cancelled", async () => {
    const { run } = await open();
    const cancel = new AbortController();
    const holding = run("hold_key", { key: "LEFT", ms: 30_000 }, cancel.signal);
    await expect.poll(() => tv.keys).toContain("keydown Left");
    cancel.abort(new Error("cancelled"));
    await expect(holding).rejects.toThrow();
    expect(tv.keys.splice(0)).toEqual(["keydown Left", "keyup Left"]);
  });

  it("that permits no remote, is silent or off fails with what to do, and knows whether the key left", async () => {
    const { remote, press } = await open();
    tv.faults.isLimited = true;
    expect(await failureOf(() => press("UP"))).toMatchObject({
      dispatched: "no",
      failure: { code: "DEVICE_UNAUTHORIZED", message: expect.stringContaining("Control by mobile apps") },
    });
    expect(remote.status?.()).toMatchObject({ state: "unauthorized", fix: expect.any(String) });
    tv.faults.isLimited = false;
    tv.faults.isSilent = true;
    expect(await failureOf(() => press("UP"))).toMatchObject({
      dispatched: "unknown",
      failure: { code: "COMMAND_TIMEOUT" },
    });
    expect(remote.isDoubted?.()).toBe(true);
    await tv.close();
    expect(await failureOf(() => press("UP"))).toMatchObject({
      dispatched: "no",
      failure: { code: "DEVICE_OFFLINE" },
    });
    const found = await rokuFactory.diagnose?.(rokuFactory.settings.parse({ address, port: tv.port }), {
      env: {},
      addons: reach.addons,
      signal: never,
    });
    expect(found).toMatchObject([
      { status: "missing", fix: expect.stringContaining("controllers.roku.address") },
    ]);
    tv = await startRoku();
  });
});

describe("an LG TV", () => {
  it("pairs with a client of others, which reads its volume", async () => {
    const tv = await startWebos();
    const client = new LGTV({
      url: `ws://${address}:${tv.port}`,
      saveKey: (_key, done) => done(),
      reconnect: false,
      learnMac: false,
      keepalive: false,
    });
    await new Promise<void>((resolve, reject) => {
      client.on("error", reject);
      client.on("connect", () => resolve());
    });
    const volume = await new Promise((resolve, reject) =>
      client.request("ssap://audio/getVolume", (error: unknown, result: unknown) =>
        error ? reject(error) : resolve(result),
      ),
    );
    expect(volume).toMatchObject({ volume: 7 });
    client.disconnect();
    await tv.close();
  });

  it("is paired once, gets buttons and requests, and is paired anew after it forgot us", async () => {
    const tv = await startWebos();
    const settings = { address, port: tv.port, secure: false };
    let pairing: Awaited<ReturnType<typeof pairTv>> | undefined;
    const { remote, run, press } = makeRemote(webosFactory, settings, { pairing: async () => pairing });
    await expect(remote.open(never)).rejects.toMatchObject({
      code: "DEVICE_UNAUTHORIZED",
      message: expect.stringContaining("labwright tv pair tv"),
    });
    let questions = 0;
    pairing = await pairTv("webos", settings, { reach, device: "lab/tv", asked: () => questions++ }, never);
    expect([pairing, questions]).toEqual([{ token: tv.tv.key }, 1]);
    await remote.open(never);
    expect(remote.facts?.()).toEqual({ make: "LG OLED55C1" });
    await press("OK");
    await press("CHANNEL_UP");
    expect(tv.buttons).toEqual(["ENTER", "CHANNELUP"]);
    await run("open_app", { app: "netflix" });
    expect(tv.tv.front).toBe("netflix");
    await press("POWER_OFF");
    expect(tv.tv.isOff).toBe(true);
    tv.tv.isSilent = true;
    expect(await failureOf(() => press("UP"))).toMatchObject({
      dispatched: "unknown",
      failure: { code: "COMMAND_TIMEOUT" },
    });
    tv.tv.key = "another-client";
    await remote.close();
    await expect(remote.open(never)).rejects.toMatchObject({ code: "DEVICE_UNAUTHORIZED" });
    tv.tv.accepts = false;
    const again = pairTv("webos", settings, { reach, device: "lab/tv", asked: () => undefined }, never);
    await expect(again).rejects.toMatchObject({
      code: "DEVICE_UNAUTHORIZED",
      message: expect.stringContaining("rejected"),
    });
    await remote.close();
    await tv.close();
  });
});

describe("a Samsung TV", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "labwright-tv-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const certificate = (name: string) => {
    const [key, cert] = [join(folder, `${name}.key`), join(folder, `${name}.pem`)];
    const options = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=SmartViewSDK"];
    execFileSync("openssl", ["req", ...options, "-keyout", key, "-out", cert], { stdio: "ignore" });
    return { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
  };

  it("is pinned by its certificate on pairing, and gets nothing by another one", async () => {
    const tv = await startSamsung(certificate("tv"));
    const settings = { address, port: tv.port };
    const pairing = await pairTv(
      "samsung",
      settings,
      { reach, device: "lab/tv", asked: () => undefined },
      never,
    );
    expect(pairing).toEqual({
      token: tv.tv.token,
      certificate: expect.stringMatching(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/),
    });
    const { remote, run, press } = makeRemote(samsungFactory, settings, { pairing: async () => pairing });
    await remote.open(never);
    await press("OK");
    await run("hold_key", { key: "UP", ms: 50 });
    expect(tv.keys).toEqual(["Click KEY_ENTER", "Press KEY_UP", "Release KEY_UP"]);
    await remote.close();
    tv.tv.token = "of another client";
    await expect(remote.open(never)).rejects.toMatchObject({
      code: "DEVICE_UNAUTHORIZED",
      message: expect.stringContaining("labwright tv pair"),
    });
    await tv.close();
    const stranger = await startSamsung(certificate("stranger"));
    stranger.tv.token = pairing.token;
    const misled = makeRemote(
      samsungFactory,
      { address, port: stranger.port },
      { pairing: async () => pairing },
    );
    await expect(misled.remote.open(never)).rejects.toMatchObject({
      code: "DEVICE_UNAUTHORIZED",
      message: expect.stringContaining("certificate"),
    });
    expect(stranger.keys).toEqual([]);
    await stranger.close();
  });
});

it("a Global Caché sends learned codes, and says when it is busy or has no such emitter", async () => {
  const box = await startGlobalCache();
  const code = "38000,1,1,342,171,21,21,21,64";
  const { remote, press } = makeRemote(globalCacheFactory, { address, port: box.port, keys: { OK: code } });
  await remote.open(never);
  expect(remote.facts?.()).toEqual({ make: "Global Caché", version: "710-1005-05" });
  await press("OK");
  expect(box.sent).toEqual([code]);
  box.faults.isBusy = true;
  expect(await failureOf(() => press("OK"))).toMatchObject({
    dispatched: "no",
    failure: { code: "DEVICE_BUSY" },
  });
  await remote.close();
  const wrong = makeRemote(globalCacheFactory, {
    address,
    port: box.port,
    connector: "1:3",
    keys: { OK: code },
  });
  await wrong.remote.open(never);
  expect(await failureOf(() => wrong.press("OK"))).toMatchObject({
    dispatched: "no",
    failure: { code: "DEVICE_ERROR" },
  });
  await wrong.remote.close();
  await box.close();
});

it("Kodi takes keys by HTTP and by TCP, between its notifications", async () => {
  const kodi = await startKodiRpc();
  const ways = [
    { transport: "http", port: kodi.http, user: "kodi", password: "secret-of-kodi" },
    { transport: "tcp", port: kodi.tcp },
  ];
  for (const way of ways) {
    const { remote, run, press } = makeRemote(kodiFactory, { address, ...way, keys: { ODD: "nonsense" } });
    await remote.open(never);
    expect(remote.facts?.()).toEqual({ make: "Kodi", version: "20.1" });
    kodi.calls.length = 0;
    await press("OK");
    await press("CHANNEL_UP");
    await run("open_app", { app: "plugin.video.x" });
    expect(kodi.calls).toEqual([
      { method: "Input.Select", params: {} },
      { method: "Input.ExecuteAction", params: { action: "channelup" } },
      { method: "Addons.ExecuteAddon", params: { addonid: "plugin.video.x", wait: false } },
    ]);
    expect(await failureOf(() => press("ODD"))).toMatchObject({
      dispatched: "no",
      failure: { code: "DEVICE_ERROR" },
    });
    await remote.close();
  }
  const stranger = makeRemote(kodiFactory, { address, port: kodi.http, user: "kodi", password: "wrong" });
  await expect(stranger.remote.open(never)).rejects.toMatchObject({ code: "DEVICE_UNAUTHORIZED" });
  await kodi.close();
});

it("Home Assistant sends commands of the preset; a wrong token, a redirect and a denied address are refused", async () => {
  const home = await startHomeAssistant("token-of-home");
  const settings = {
    url: `http://${address}:${home.port}`,
    token: "token-of-home",
    entity: "remote.tv",
    preset: "apple_tv",
  };
  const { remote, press } = makeRemote(homeAssistantFactory, settings);
  await remote.open(never);
  await press("BACK");
  expect(home.sent).toEqual([{ entity_id: "remote.tv", command: "menu" }]);
  home.faults.isRedirecting = true;
  expect(await failureOf(() => press("BACK"))).toMatchObject({
    failure: { message: expect.stringContaining("redirects") },
  });
  home.faults.isRedirecting = false;
  const stranger = makeRemote(homeAssistantFactory, { ...settings, token: "another" });
  const refusal = await failureOf(() => stranger.remote.open(never));
  expect(refusal.failure).toMatchObject({
    code: "DEVICE_UNAUTHORIZED",
    message: expect.not.stringContaining("another "),
  });
  const allowHost = () => {
    throw new Error("denied by policy");
  };
  await expect(makeRemote(homeAssistantFactory, settings, { allowHost }).remote.open(never)).rejects.toThrow(
    "denied by policy",
  );
  home.faults.isUnavailable = true;
  await expect(makeRemote(homeAssistantFactory, settings).remote.open(never)).rejects.toMatchObject({
    code: "DEVICE_OFFLINE",
  });
  await home.close();
});
