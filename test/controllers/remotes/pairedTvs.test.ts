import {
  type ControllerFactory,
  kodiFactory,
  type Pairing,
  pairTv,
  samsungFactory,
  webosFactory,
} from "@labwright/controllers";
import LGTV from "lgtv2";
import { describe, expect, it } from "vitest";
import { controllerContext } from "../../fixtures/controllerContext.ts";
import { startKodiRpc } from "../../lab/tv/remotes/jsonServers.ts";
import { startSamsung } from "../../lab/tv/remotes/samsung.ts";
import { startWebos } from "../../lab/tv/remotes/webos.ts";
import { certificate } from "./certificate.ts";
import { makeRemote, never } from "./openRemote.ts";
import { withoutWaiting } from "./remoteContract.ts";

const address = "127.0.0.1";
const reach = controllerContext("lab/tv");

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
    tv.tv.key = "another-client";
    await remote.close();
    await expect(remote.open(never)).rejects.toMatchObject({
      code: "DEVICE_UNAUTHORIZED",
      message: expect.stringContaining("Run: labwright tv pair tv"),
    });
    expect(remote.status?.()).toMatchObject({
      state: "unauthorized",
      fix: expect.stringContaining("tv pair"),
    });
    tv.tv.accepts = false;
    const again = pairTv("webos", settings, { reach, device: "lab/tv", asked: () => undefined }, never);
    await expect(again).rejects.toMatchObject({
      code: "DEVICE_UNAUTHORIZED",
      message: expect.stringContaining("rejected"),
    });
    tv.tv.accepts = true;
    tv.tv.key = "";
    tv.tv.isSilent = true;
    const unanswered = withoutWaiting(() =>
      pairTv("webos", settings, { reach, device: "lab/tv", asked: () => undefined, ms: 5_000 }, never),
    );
    await expect(unanswered).rejects.toMatchObject({
      code: "COMMAND_TIMEOUT",
      message: expect.stringMatching(/No one accepted Labwright on the TV within 5 s\. Run it again/),
    });
    await remote.close();
    await tv.close();
  });
});

it("a token goes by no other kind of connection than the one that the TV was paired by", async () => {
  const [plain, secure] = [await startWebos(), await startSamsung(certificate("other"))];
  plain.tv.key = "token";
  const ways: [object, Pairing][] = [
    [
      { port: plain.port, secure: false },
      { token: "token", certificate: "AB:CD" },
    ],
    [{ port: secure.port, secure: true }, { token: "token" }],
  ];
  for (const [given, pairing] of ways) {
    const { remote } = makeRemote(webosFactory, { address, ...given }, { pairing: async () => pairing });
    await expect(remote.open(never)).rejects.toMatchObject({
      code: "DEVICE_UNAUTHORIZED",
      message: expect.stringMatching(/paired by another kind of connection.*Run: labwright tv pair tv/),
    });
  }
  await plain.close();
  await secure.close();
});

it("doctor asks no TV to pair and sends no secret, and says what to run", async () => {
  const tv = await startWebos();
  const look = (factory: ControllerFactory, settings: object, isPaired = false) =>
    factory.diagnose?.(factory.settings.parse({ address, ...settings }), {
      ...{ env: {}, addons: reach.addons, signal: never, isPaired },
    });
  const settings = { port: tv.port, secure: false };
  const answers = { what: "LG TV", status: "ok" };
  expect(await look(webosFactory, settings)).toMatchObject([
    answers,
    { what: "LG TV pairing", status: "missing", fix: "Run: labwright tv pair <device>" },
  ]);
  expect(await look(webosFactory, settings, true)).toMatchObject([
    answers,
    { status: "ok", detail: "paired" },
  ]);
  expect(tv.tv.key).toBe("");
  await tv.close();
  expect(await look(webosFactory, settings, true)).toMatchObject([
    { what: "LG TV", status: "missing", fix: expect.stringContaining("controllers.webos.address") },
    { status: "ok" },
  ]);
  const kodi = await startKodiRpc();
  const login = { port: kodi.http, user: "kodi", password: "{{secret.KODI}}" };
  expect(await look(kodiFactory, login)).toMatchObject([
    { what: "Kodi", status: "ok", detail: expect.stringContaining("it was not asked") },
  ]);
  expect(await look(kodiFactory, { ...login, password: "secret-of-kodi" })).toMatchObject([
    { what: "Kodi", status: "ok", detail: "Kodi 20.1" },
  ]);
  expect(kodi.calls).toHaveLength(1);
  await kodi.close();
});

describe("a Samsung TV", () => {
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
    const { remote, press } = makeRemote(samsungFactory, settings, { pairing: async () => pairing });
    await remote.open(never);
    await press("OK");
    expect(tv.keys).toEqual(["Click KEY_ENTER"]);
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
