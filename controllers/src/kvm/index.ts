import { z } from "zod";
import { Capture } from "../av/capture.ts";
import { diagnoseAv } from "../av/diagnose.ts";
import { avController, avOffer } from "../av/index.ts";
import { avSettingsSchema } from "../av/settings.ts";
import type { ControllerContext } from "../contract.ts";
import { type ControllerFactory, defineFactory, nowhere } from "../factory.ts";
import { outletController, outletOffer } from "../power/controller.ts";
import { hostOf, secretSchema, textSchema, urlSchema } from "../power/http.ts";
import { diagnoseLink, remoteController } from "../remotes/remote.ts";
import { keyMap, keysSchema } from "../remotes/settings.ts";
import { poll } from "../waiting/deadlines.ts";
import { anywhere } from "../wire/sockets.ts";
import { KvmBox } from "./box.ts";
import { kvmKeys, openKeys } from "./keys.ts";
import { powerButton } from "./outlet.ts";

const { capture_delay_ms, capture_delay_error_ms } = avSettingsSchema.shape;
const settingsSchema = z.strictObject({
  url: urlSchema,
  user: textSchema.default("admin"),
  password: secretSchema,
  force_off: z
    .boolean()
    .default(true)
    .describe("Off by a long press of the power button. Otherwise a short one asks the system to shut down."),
  keys: keysSchema(/^(?:[0-9a-f]{2}){1,2}$/).describe(
    "Further keys, or other codes for known ones: two digits of HID's keyboard page or four of its consumer page, such as 28.",
  ),
  ...{ capture_delay_ms, capture_delay_error_ms },
});
type Settings = z.output<typeof settingsSchema>;

const modeSchema = z.object({ mode: z.string(), switching: z.boolean().optional() });
/** A change of mode restarts its capture. */
const modeMs = 5_000;

/** Has the box send JPEG pictures, which it does in one of its modes alone. */
async function showPictures(box: KvmBox, signal: AbortSignal): Promise<void> {
  const path = "/api/stream/mode";
  const isReady = async () => {
    const { mode, switching } = await box.ask(modeSchema, path, {}, signal);
    return mode === "mjpeg" && switching !== true;
  };
  if (await isReady()) return;
  await box.ask(z.unknown(), path, { body: { mode: "mjpeg" } }, signal);
  await poll(isReady, { everyMs: 100, ms: modeMs, signal });
}

function controllers(settings: Settings, context: ControllerContext) {
  const { url, capture_delay_ms, capture_delay_error_ms } = settings;
  const box = new KvmBox(settings, context);
  const open = (signal: AbortSignal) => openKeys(box, url, context, signal);
  const picture = () => {
    const mjpeg = `${url.replace(/\/$/, "")}/api/stream/mjpeg`;
    const av = avSettingsSchema.parse({ mjpeg, capture_delay_ms, capture_delay_error_ms });
    const login = async (signal: AbortSignal) => {
      await showPictures(box, signal);
      return ["-headers", `Cookie: ${await box.cookie(signal)}\r\n`];
    };
    return avController(new Capture(av, context, { login, setting: "controllers.one_kvm.url" }));
  };
  return [
    remoteController({ holds: true }, keyMap(kvmKeys, settings.keys), open, context),
    picture(),
    outletController(powerButton(box, settings.force_off), context),
  ];
}

/** One-KVM: picture, keys and power of what it is plugged into, over HTTP. */
export const oneKvmFactory: ControllerFactory = defineFactory({
  name: "one_kvm",
  kinds: ["remote", "av", "power"],
  settings: settingsSchema,
  offers: () => {
    const [remote] = controllers(
      settingsSchema.parse({ url: "http://127.0.0.1", password: "none" }),
      nowhere,
    );
    return [...(remote ? [remote] : []), avOffer, outletOffer];
  },
  claims: ({ url }) => [`kvm:${hostOf(url)}`],
  create: controllers,
  async diagnose(settings, context) {
    const what = "One-KVM";
    const ffmpeg = await diagnoseAv(avSettingsSchema.parse({ mjpeg: "http://127.0.0.1" }), context);
    if (JSON.stringify(settings).includes("{{"))
      return [...ffmpeg, { what, status: "ok", detail: "its settings hold a secret, so it was not asked" }];
    const box = new KvmBox(settings, anywhere);
    const open = (signal: AbortSignal) => openKeys(box, settings.url, anywhere, signal);
    return [...ffmpeg, await diagnoseLink(what, open, context.signal)];
  },
});
