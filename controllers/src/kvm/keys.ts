import { z } from "zod";
import { DeviceError } from "../errors.ts";
import type { RemoteLink } from "../remotes/remote.ts";
import { orClose } from "../wire/exchange.ts";
import { offline } from "../wire/failures.ts";
import type { Reach } from "../wire/sockets.ts";
import { openWebSocket } from "../wire/webSocket.ts";
import type { KvmBox } from "./box.ts";

/**
 * Keys of a USB keyboard as two digits of HID's keyboard page, and media keys as four digits of its consumer page, both in
 * hexadecimal. Source: USB HID Usage Tables 1.12, pages 0x07 and 0x0C.
 */
export const kvmKeys = `
  UP:52 DOWN:51 LEFT:50 RIGHT:4f OK:28 BACK:29 HOME:4a MENU:65 ENTER:28 BACKSPACE:2a TAB:2b SPACE:2c PAGE_UP:4b PAGE_DOWN:4e
  END:4d DELETE:4c F1:3a F2:3b F3:3c F4:3d F5:3e F6:3f F7:40 F8:41 F9:42 F10:43 F11:44 F12:45 1:1e 2:1f 3:20 4:21 5:22 6:23 7:24
  8:25 9:26 0:27 PLAY_PAUSE:00cd STOP:00b7 NEXT:00b5 PREVIOUS:00b6 MUTE:00e2 VOLUME_UP:00e9 VOLUME_DOWN:00ea`;

const statusSchema = z.object({ available: z.boolean(), online: z.boolean().optional() });
const isMedia = (code: string) => code.length === 4;
const key = (event: "down" | "up", code: string) => `01${event === "down" ? "00" : "01"}${code}00`;
/** Its low byte first. One-KVM lets it go by itself. */
const media = (code: string) => `03${code.slice(2)}${code.slice(0, 2)}`;
const ready = "00";

/** Opens the keyboard of a box: its web socket. Throws DEVICE_OFFLINE where its USB cable is not plugged in. */
export async function openKeys(
  box: KvmBox,
  url: string,
  reach: Reach,
  signal: AbortSignal,
): Promise<RemoteLink> {
  const { place } = box;
  const unplugged = () =>
    offline(
      { ...place, check: "Plug the One-KVM's USB cable into the device." },
      "its keyboard is not connected to a device",
    );
  const status = async (own: AbortSignal) => {
    const { available, online = available } = await box.ask(statusSchema, "/api/hid/status", {}, own);
    if (!available || !online) throw unplugged();
  };
  const judge = (message: string) => {
    if (message !== ready) throw unplugged();
  };
  // It also renews a session that has ended.
  await status(signal);
  const { hostname, port, protocol } = new URL(url);
  const isSecure = protocol === "https:";
  const peer = {
    ...{ ...place, host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || (isSecure ? 443 : 80)) },
    ...{ path: "/api/ws/hid", isSecure, isBinary: true, judge },
    headers: { cookie: await box.cookie(signal) },
  };
  const { send, exchange } = await openWebSocket(peer, { reach, fix: "" }, signal);
  await orClose(exchange, async () => judge(await exchange.expect((message) => message, 5_000, signal)));
  return {
    facts: { make: "One-KVM" },
    connection: exchange,
    ask: status,
    async press(code, own) {
      if (isMedia(code)) return send(media(code), own);
      await send(key("down", code), own);
      return send(key("up", code), own);
    },
    hold: {
      async down(code, own) {
        if (!isMedia(code)) return send(key("down", code), own);
        throw new DeviceError("INVALID_PARAMS", "One-KVM cannot hold a media key. Press it several times.");
      },
      up: (code, own) => send(key("up", code), own),
    },
  };
}
