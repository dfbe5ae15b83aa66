import {
  globalCacheFactory,
  homeAssistantFactory,
  kodiFactory,
  rokuFactory,
  samsungFactory,
  webosFactory,
} from "@labwright/controllers";
import { RokuClient } from "roku-client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { controllerContext } from "../../fixtures/controllerContext.ts";
import { startGlobalCache } from "../../lab/tv/remotes/globalCache.ts";
import { startHomeAssistant, startKodiRpc } from "../../lab/tv/remotes/jsonServers.ts";
import { startRoku } from "../../lab/tv/remotes/roku.ts";
import { startSamsung } from "../../lab/tv/remotes/samsung.ts";
import { startWebos } from "../../lab/tv/remotes/webos.ts";
import { controllerContract } from "../contract.ts";
import { certificate } from "./certificate.ts";
import { makeRemote, never } from "./openRemote.ts";
import { failureOf, remoteContract, silenceOf } from "./remoteContract.ts";

const address = "127.0.0.1";
const reach = controllerContext("lab/tv");

controllerContract("the driver roku", async () => {
  const tv = await startRoku();
  const { remote } = makeRemote(rokuFactory, { address, port: tv.port });
  const endless = { command: "hold_key", params: { key: "UP", ms: 30_000 } };
  return { controller: remote, factory: rokuFactory, endless, dispose: () => tv.close() };
});

remoteContract("roku", async () => {
  const { keys, faults, port, close } = await startRoku();
  return {
    factory: rokuFactory,
    settings: { address, port, keys: { ODD: "Odd" } },
    arrived: () => keys,
    sends: { OK: ["Select"], UP: ["Up"] },
    holds: ["keydown Up", "keyup Up"],
    refuses: { key: "ODD", code: "DEVICE_ERROR" },
    silence: silenceOf(faults),
    close,
  };
});

remoteContract("webos", async () => {
  const { buttons, tv, port, close } = await startWebos();
  tv.key = "of-the-lab";
  return {
    factory: webosFactory,
    settings: { address, port, secure: false, keys: { ODD: "ssap://system/odd" } },
    context: { pairing: async () => ({ token: tv.key }) },
    arrived: () => buttons,
    sends: { OK: ["ENTER"], UP: ["UP"] },
    refuses: { key: "ODD", code: "DEVICE_ERROR" },
    silence: silenceOf(tv),
    close,
  };
});

remoteContract(
  "samsung",
  async () => {
    const own = certificate("contract");
    const { keys, tv, port, close } = await startSamsung(own);
    tv.token = "51823407";
    return {
      factory: samsungFactory,
      settings: { address, port },
      context: { pairing: async () => ({ token: tv.token, certificate: own.fingerprint }) },
      arrived: () => keys,
      sends: { OK: ["Click KEY_ENTER"], UP: ["Click KEY_UP"] },
      holds: ["Press KEY_UP", "Release KEY_UP"],
      silence: silenceOf(tv),
      close,
    };
  },
  { without: ["refuses"] },
);

remoteContract("global_cache", async () => {
  const { sent, faults, port, close } = await startGlobalCache();
  const [OK, UP, ODD] = ["38000,1,1,342,171", "38000,1,1,21,64", "99000,1,1,21,64"];
  return {
    factory: globalCacheFactory,
    settings: { address, port, keys: { OK, UP, ODD } },
    arrived: () => sent,
    sends: { OK: [OK], UP: [UP] },
    refuses: { key: "ODD", code: "DEVICE_ERROR" },
    silence: silenceOf(faults),
    close,
  };
});

for (const transport of ["http", "tcp"] as const)
  remoteContract(`kodi by ${transport}`, async () => {
    const kodi = await startKodiRpc();
    return {
      factory: kodiFactory,
      settings: {
        ...{ address, transport, port: kodi[transport], keys: { ODD: "nonsense" } },
        ...{ user: "kodi", password: "secret-of-kodi" },
      },
      arrived: () => kodi.calls.map(({ method }) => method).filter((method) => method.startsWith("Input.")),
      sends: { OK: ["Input.Select"], UP: ["Input.Up"] },
      refuses: { key: "ODD", code: "DEVICE_ERROR" },
      silence: silenceOf(kodi.faults),
      close: kodi.close,
    };
  });

remoteContract("home_assistant", async () => {
  const { sent, faults, port, close } = await startHomeAssistant("token-of-home");
  return {
    factory: homeAssistantFactory,
    settings: {
      ...{ url: `http://${address}:${port}`, token: "token-of-home", entity: "remote.tv" },
      ...{ preset: "apple_tv", keys: { ODD: "odd" } },
    },
    arrived: () => sent.map(({ command }) => command),
    sends: { OK: ["select"], UP: ["up"] },
    refuses: { key: "ODD", code: "DEVICE_ERROR" },
    silence: silenceOf(faults),
    close,
  };
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

  it("opens and leaves apps, and says what it is", async () => {
    const { remote, run } = await open();
    expect(remote.facts?.()).toEqual({ make: "Roku Roku Ultra", version: "14.0.4" });
    expect(await run("open_app", { app: "12" })).toMatchObject({ sentAt: expect.any(Number) });
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

  it("that permits no remote or is off fails with what to do, and no key left", async () => {
    const { remote, press } = await open();
    tv.faults.isLimited = true;
    expect(await failureOf(() => press("UP"))).toMatchObject({
      dispatched: "no",
      failure: { code: "DEVICE_UNAUTHORIZED", message: expect.stringContaining("Control by mobile apps") },
    });
    expect(remote.status?.()).toMatchObject({ state: "unauthorized", fix: expect.any(String) });
    tv.faults.isLimited = false;
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

it("a Global Caché says when it is busy or has no such emitter", async () => {
  const box = await startGlobalCache();
  const code = "38000,1,1,342,171,21,21,21,64";
  const { remote, press } = makeRemote(globalCacheFactory, { address, port: box.port, keys: { OK: code } });
  await remote.open(never);
  expect(remote.facts?.()).toEqual({ make: "Global Caché", version: "710-1005-05" });
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

it("Kodi starts add-ons, between its notifications, and refuses another password", async () => {
  const kodi = await startKodiRpc();
  const { remote, run, press } = makeRemote(kodiFactory, { address, transport: "tcp", port: kodi.tcp });
  await remote.open(never);
  expect(remote.facts?.()).toEqual({ make: "Kodi", version: "20.1" });
  kodi.calls.length = 0;
  await press("CHANNEL_UP");
  await run("open_app", { app: "plugin.video.x" });
  expect(kodi.calls).toEqual([
    { method: "Input.ExecuteAction", params: { action: "channelup" } },
    { method: "Addons.ExecuteAddon", params: { addonid: "plugin.video.x", wait: false } },
  ]);
  await remote.close();
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
