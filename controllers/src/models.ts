/**
 * What a device model implies: the drivers of its controllers, by factory name. A device's `controllers` add others. Data, so
 * that a user's configuration can add models of its own.
 */
export type DeviceModel = { name: string; drivers: readonly string[] };

export const deviceModels: readonly DeviceModel[] = [
  { name: "web", drivers: ["web"] },
  { name: "android_mobile", drivers: ["android"] },
  { name: "android_tv", drivers: ["android"] },
  { name: "ios_mobile", drivers: ["appium"] },
  { name: "stb", drivers: [] },
  { name: "desktop", drivers: ["desktop"] },
  { name: "simulated", drivers: ["simulated"] },
];
