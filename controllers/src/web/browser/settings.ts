import { z } from "zod";

const viewportSchema = z
  .strictObject({
    width: z.number().int().min(100).max(10_000).default(1280),
    height: z.number().int().min(100).max(10_000).default(720),
  })
  .describe("Size of the page in CSS pixels.");

const proxySchema = z
  .strictObject({
    server: z.string().min(1).describe("http://host:port or https://host:port."),
    username: z.string().min(1).optional(),
    password: z.string().min(1).optional().describe("Also as {{secret.NAME}}."),
    bypass: z
      .string()
      .min(1)
      .optional()
      .describe("Hosts that are reached directly, as in NO_PROXY. This machine always is."),
  })
  .describe(
    "The proxy that leads to the app, where there is no direct way. Without it HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY count.",
  );

/** What a device of model `web` may set in the configuration. `connect` and `cdp` use a browser that already runs. */
export const webSettingsSchema = z
  .strictObject({
    browser: z.enum(["chromium", "firefox", "webkit"]).default("chromium"),
    headless: z
      .boolean()
      .default(true)
      .describe(
        "Without a window. Takes chromium-headless-shell where it is installed; executable_path or channel choose another.",
      ),
    display: z
      .record(z.string(), z.string().max(1_000))
      .optional()
      .describe(
        "Where its window opens: DISPLAY, WAYLAND_DISPLAY, XAUTHORITY, XDG_RUNTIME_DIR. Those of the daemon without it.",
      ),
    channel: z.string().min(1).optional().describe("A branded browser that is installed: chrome, msedge ..."),
    executable_path: z.string().min(1).optional().describe("The browser's program file."),
    sandbox: z
      .boolean()
      .default(true)
      .describe(
        "Chromium keeps pages in its sandbox. Without it, a page that breaks out of the browser has the rights of this user. Root, and many containers, have no sandbox.",
      ),
    connect: z.string().min(1).optional().describe("WebSocket address of a Playwright server."),
    cdp: z.string().min(1).optional().describe("Address of a Chromium with remote debugging (http or ws)."),
    viewport: viewportSchema.prefault({}),
    locale: z.string().min(2).optional().describe("For example de-DE."),
    timezone: z.string().min(1).optional().describe("For example Europe/Berlin."),
    user_agent: z.string().min(1).optional(),
    storage_state: z.string().min(1).optional().describe("Name of a saved storage state to start with."),
    ignore_https_errors: z.boolean().default(false),
    proxy: proxySchema.optional(),
  })
  .refine((settings) => settings.connect === undefined || settings.cdp === undefined, {
    message: "give connect or cdp, not both",
  })
  .refine((settings) => settings.cdp === undefined || settings.browser === "chromium", {
    message: "cdp works with browser: chromium only",
  });

export type WebSettings = z.output<typeof webSettingsSchema>;

type Wished = Pick<WebSettings, "browser" | "channel">;

/** Chrome, Chromium or Edge: the one that is found where the settings name none. */
const anyChromium: Wished = { browser: "chromium" };
const byName: Readonly<Record<string, Wished>> = {
  chrome: anyChromium,
  chromium: anyChromium,
  edge: { browser: "chromium", channel: "msedge" },
  firefox: { browser: "firefox" },
  // A Firefox that is installed, of the newest versions, by WebDriver BiDi.
  "moz-firefox": { browser: "firefox", channel: "moz-firefox" },
  webkit: { browser: "webkit" },
};

/** How a browser may be called where a run wishes for one. */
export const browserNames: readonly string[] = Object.keys(byName);

/** The settings with another browser, whose program is looked for; undefined for an unknown name. */
export function withBrowser(settings: WebSettings, name: string): WebSettings | undefined {
  const wished = Object.hasOwn(byName, name) ? byName[name] : undefined;
  if (wished === undefined) return undefined;
  const isOwn = wished.browser === settings.browser && wished.channel === undefined;
  return isOwn ? settings : { ...settings, channel: undefined, executable_path: undefined, ...wished };
}

/** A Firefox that is installed, which Playwright drives by WebDriver BiDi. */
export const isOverBidi = ({ browser, channel }: WebSettings): boolean =>
  browser === "firefox" && channel?.startsWith("moz-firefox") === true;

const notByBidi = "An installed Firefox (channel moz-firefox) does not do it.";
/** Commands that Playwright acknowledges over BiDi although the page notices nothing of them. */
export const withheldByBidi = ["double_click", "triple_click", "drag_and_drop", "emulate_media"].map(
  (name) => ({
    name,
    reason: `${notByBidi} Use chrome, or Playwright's own Firefox: npx playwright-core install firefox`,
  }),
);
