import { z } from "zod";
import type { LabUi } from "../android/labUi.ts";
import { WireFailure } from "../webdriver/wire.ts";
import { bundleIdOf } from "./names.ts";

export type IosPersona = {
  name: string;
  platformName: "iOS" | "tvOS";
  platformVersion: string;
  udid: string;
  /** In points: `density` 160 is one of the laboratory's pixels for each. */
  screen: { width: number; height: number; density: number };
};

export const iphone: IosPersona = {
  name: "Lab iPhone",
  platformName: "iOS",
  platformVersion: "17.5",
  udid: "00008030-0000LABWRIGHT01",
  screen: { width: 390, height: 844, density: 160 },
};

export const appleTv: IosPersona = {
  name: "Lab Apple TV",
  platformName: "tvOS",
  platformVersion: "17.5",
  udid: "00008110-0000LABWRIGHT02",
  screen: { width: 1920, height: 1080, density: 320 },
};

type Capabilities = Readonly<Record<string, unknown>>;
const asked = z.object({
  capabilities: z.object({
    alwaysMatch: z.record(z.string(), z.unknown()).optional(),
    firstMatch: z.array(z.record(z.string(), z.unknown())).optional(),
  }),
});

/** What a session that is asked for has. Throws SessionNotCreated with Appium's words. */
export function negotiated(body: unknown, persona: IosPersona, ui: LabUi): Capabilities {
  const result = asked.safeParse(body);
  if (!result.success) throw refused("The capabilities argument was not valid");
  const { alwaysMatch = {}, firstMatch = [] } = result.data.capabilities;
  const wanted: Capabilities = { ...alwaysMatch, ...firstMatch[0] };
  mustBeKnown(wanted);
  const automation = String(wanted["appium:automationName"] ?? "XCUITest");
  if (String(wanted.platformName) !== persona.platformName || automation !== "XCUITest")
    throw refused(
      `Could not find a driver for automationName '${automation}' and platformName '${String(wanted.platformName)}'. Have you installed a driver that supports those capabilities? Run 'appium driver list --installed' to see.`,
    );
  const udid = wanted["appium:udid"];
  if (udid !== undefined && udid !== persona.udid)
    throw refused(`Unknown device or simulator UDID: '${String(udid)}'`);
  const bundleId = wanted["appium:bundleId"];
  const isKnown = ui.apps().some(({ packageName }) => bundleIdOf(packageName) === bundleId);
  if (bundleId !== undefined && !isKnown)
    throw refused(`App with bundle identifier '${String(bundleId)}' unknown`);
  return {
    ...wanted,
    ...{ "appium:deviceName": persona.name, "appium:platformVersion": persona.platformVersion },
    ...{ "appium:udid": persona.udid, "appium:automationName": "XCUITest" },
    platformName: persona.platformName,
  };
}

/** W3C lets a capability of its own have no prefix, and no other. */
function mustBeKnown(wanted: Capabilities): void {
  const own = [
    "platformName",
    "browserName",
    "browserVersion",
    "timeouts",
    "unhandledPromptBehavior",
    "webSocketUrl",
  ];
  const bad = Object.keys(wanted).filter((name) => !name.includes(":") && !own.includes(name));
  if (bad.length > 0)
    throw refused(
      `All non-standard capabilities should have a vendor prefix. The following capabilities did not have one: ${bad.join(",")}`,
    );
}

const refused = (message: string) =>
  new WireFailure("session not created", `A new session could not be created. Details: ${message}`);
