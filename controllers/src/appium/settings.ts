import { z } from "zod";
import { presetNames, presets } from "./presets.ts";

/** A placeholder of a secret, which is filled in only when the device is made. */
const isAddress = (url: string) =>
  (/^https?:\/\/\S+$/.test(url) && (url.includes("{{") || URL.canParse(url))) || /^\{\{\s*secret\./.test(url);

/** What a device of the driver `appium` may set in the configuration. */
export const appiumSettingsSchema = z
  .strictObject({
    url: z
      .string()
      .max(2_000)
      .refine(isAddress, "an address of an Appium server, such as http://127.0.0.1:4723")
      .optional()
      .describe(
        "Of the Appium server or cloud, with user and key where it needs them; that of the preset if left out.",
      ),
    preset: z.enum(presetNames).optional().describe("A cloud that is known by its documents."),
    capabilities: z
      .record(z.string().min(1).max(200), z.unknown())
      .default({})
      .describe("As Appium takes them: platformName, appium:automationName, appium:udid …"),
    app: z
      .string()
      .max(2_000)
      .optional()
      .describe("The capability appium:app: a path on the server, an address, or a cloud's name of an app."),
    link_schemes: z
      .array(z.string().regex(/^[a-z][a-z0-9+.-]*$/))
      .default([])
      .describe(
        "Schemes of links that open_deep_link may open beside http, https and that of the app in use.",
      ),
  })
  .refine(({ url, preset }) => url !== undefined || (preset && presets[preset].url) !== undefined, {
    message: "give url, or a preset that has an address of its own",
    path: ["url"],
  });

export type AppiumSettings = z.output<typeof appiumSettingsSchema>;
