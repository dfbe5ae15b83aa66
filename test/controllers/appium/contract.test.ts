import { appiumFactory } from "@labwright/controllers";
import { afterAll, beforeAll, describe } from "vitest";
import { appleTv, type IosPersona, iphone, type LabIos, startLabIos } from "../../lab/ios/index.ts";
import { portOf } from "../android/openAndroid.ts";
import { controllerContract } from "../contract.ts";
import { focusSourceContract } from "../ports.ts";
import { makeAppium, openAppium } from "./openAppium.ts";

const endless = { command: "wait_for", params: { text: "No such text", timeout_ms: 60_000 } };
const settingsOf = ({ url }: LabIos, { platformName }: IosPersona) => ({
  url,
  capabilities: { platformName },
});

describe.each([
  ["iPhone", iphone],
  ["Apple TV", appleTv],
] as const)("%s", (name, persona) => {
  let lab: LabIos;
  beforeAll(async () => {
    lab = await startLabIos({ persona });
  });
  afterAll(() => lab.close());

  controllerContract(`appium remote of an ${name}`, async () => {
    const { remote, close } = makeAppium(settingsOf(lab, persona));
    return { controller: remote, factory: appiumFactory, endless, dispose: close };
  });
});

let tv: LabIos;
beforeAll(async () => {
  tv = await startLabIos({ persona: appleTv });
});
afterAll(() => tv.close());

focusSourceContract("Apple TV", async () => {
  const { remote, run, close } = await openAppium(settingsOf(tv, appleTv));
  await run("go_home");
  await run("press_key", { key: "DOWN" });
  return { port: portOf(remote.focus), dispose: close };
});
