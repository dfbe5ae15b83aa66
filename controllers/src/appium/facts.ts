import { z } from "zod";
import { tidy } from "../elements/text.ts";
import type { ControllerFacts } from "../ports.ts";
import { answerAs } from "./failures.ts";

export const platforms = ["android", "ios", "tvos"] as const;
export type Platform = (typeof platforms)[number];

export type AppiumFacts = {
  platform: Platform;
  name: string;
  version: string;
  isTv: boolean;
  /** In its natural position, in the units of the tree: pixels of Android, points of iOS. */
  screen: { width: number; height: number };
};

type Capabilities = Readonly<Record<string, unknown>>;

/** A capability by its name, with Appium's prefix or without. */
export const capability = (capabilities: Capabilities, name: string): unknown =>
  capabilities[`appium:${name}`] ?? capabilities[name];

export function platformOf(capabilities: Capabilities): Platform | undefined {
  const name = String(capability(capabilities, "platformName") ?? "").toLowerCase();
  return platforms.find((one) => one === name);
}

const windowRect = z.object({
  width: z.number().positive().max(100_000),
  height: z.number().positive().max(100_000),
});

export function factsOf(platform: Platform, capabilities: Capabilities, window: unknown): AppiumFacts {
  const { width, height } = answerAs(windowRect, "getWindowRect", window);
  const text = (...names: string[]) =>
    names.map((name) => capability(capabilities, name)).find((value) => typeof value === "string") ?? "";
  const name = [text("deviceManufacturer"), text("deviceModel", "deviceName")].join(" ");
  const natural = /^(\d+)x(\d+)$/.exec(String(text("deviceScreenSize")));
  const isTv = platform === "tvos" || (platform === "android" && /\btv\b|leanback/i.test(name));
  const upright = isTv
    ? { width, height }
    : { width: Math.min(width, height), height: Math.max(width, height) };
  return {
    platform,
    name: tidy(name).slice(0, 200),
    version: tidy(String(text("platformVersion"))).slice(0, 40),
    isTv,
    screen: natural ? { width: Number(natural[1]), height: Number(natural[2]) } : upright,
  };
}

const systems = { android: "Android", ios: "iOS", tvos: "tvOS" } as const;

export function factsForAll(
  { platform, name, version, screen }: AppiumFacts,
  report?: string,
): ControllerFacts {
  const traffic = "Its own traffic passes no rule of url_policy.";
  const note =
    report === undefined ? traffic : `${traffic} Its cloud shows the session and a video: ${report}`;
  return {
    ...(name !== "" && { make: name }),
    version: `${systems[platform]} ${version}`.trim(),
    screen,
    note,
  };
}
