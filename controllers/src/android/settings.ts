import { z } from "zod";

/** A host name or address and a port, as adb takes them. */
const address = /^(?:[A-Za-z0-9][\w.-]{0,250}|\[[0-9A-Fa-f:.]{2,45}\]):\d{1,5}$/;

export const androidSettingsSchema = z
  .strictObject({
    serial: z
      .string()
      .regex(/^[\w.:[\]-]{1,200}$/, "a serial is written as adb devices lists it")
      .optional()
      .describe("As `adb devices` lists it. May be left out while adb lists only one device."),
    address: z
      .string()
      .regex(address, "an address is written host:port, such as 192.168.1.20:5555")
      .optional()
      .describe("Address of a device on the network, host:port. It is connected when needed."),
    adb_port: z
      .int()
      .min(1)
      .max(65_535)
      .optional()
      .describe("Port of the adb server on this machine. Default: ANDROID_ADB_SERVER_PORT, else 5037."),
    backend: z
      .enum(["auto", "uiautomator2", "dump"])
      .default("auto")
      .describe(
        "What reads the elements: uiautomator2 (needs: labwright setup android) or dump, which every device has. auto: the first that works.",
      ),
    chromedriver: z
      .string()
      .min(1)
      .max(1_000)
      .optional()
      .describe(
        "The program chromedriver, by its path or its name on the PATH. With it, pages in WebViews are read directly. Its version must match the device's WebView.",
      ),
  })
  .refine((settings) => settings.serial === undefined || settings.address === undefined, {
    message: "give serial or address, not both",
  });

export type AndroidSettings = z.output<typeof androidSettingsSchema>;

/** The serial by which adb lists the device; undefined if the settings name none. */
export const serialOf = ({ serial, address }: AndroidSettings): string | undefined => serial ?? address;
