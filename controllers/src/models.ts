/**
 * What a device model implies: the drivers of its controllers, by factory name. A device's `controllers` add others. Data, so
 * that a user's configuration can add models of its own.
 */
export type DeviceModel = {
  name: string;
  drivers: readonly string[];
  /** Its drivers judge what another driver shows, such as `av`: a device must name one. */
  needsMore?: true;
};

/** What judges the picture and sound of a box or TV on which nothing is installed. */
const judging = ["text", "image", "video", "audio"];

export const deviceModels: readonly DeviceModel[] = [
  { name: "web", drivers: ["web"] },
  { name: "android_mobile", drivers: ["android"] },
  { name: "android_tv", drivers: ["android"] },
  { name: "ios_mobile", drivers: ["appium"] },
  { name: "stb", drivers: judging, needsMore: true },
  { name: "fire_tv", drivers: ["adb_keys", ...judging], needsMore: true },
  { name: "apple_tv", drivers: judging, needsMore: true },
  { name: "smart_tv", drivers: judging, needsMore: true },
  { name: "desktop", drivers: ["desktop"] },
  { name: "simulated", drivers: ["simulated"] },
];
