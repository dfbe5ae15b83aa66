export const presetNames = ["browserstack"] as const;
export const presets: Readonly<Record<(typeof presetNames)[number], { url: string }>> = {
  browserstack: { url: "https://hub-cloud.browserstack.com/wd/hub" },
};
