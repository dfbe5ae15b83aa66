import { z } from "zod";
import { DeviceError } from "../errors.ts";
import { unauthorized } from "../wire/failures.ts";
import { type Answer, askHttp, type Request } from "../wire/http.ts";
import { readJson } from "../wire/json.ts";
import type { Reach } from "../wire/sockets.ts";
import type { PowerState } from "./outlet.ts";

export const textSchema = z.string().min(1).max(1_000);
export const secretSchema = textSchema.describe("Better as {{secret.NAME}}.");
/** A placeholder of a secret is filled in when the device is made. */
const isAddress = (url: string) => url.includes("{{") || /^https?:\/\/[^@/?#]+\/?$/.test(url);
export const urlSchema = textSchema
  .refine(isAddress, "an address without a path and user, such as http://192.168.1.20")
  .describe("Such as http://192.168.1.20.");
export const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : url);
export const stateOf = (isOn: boolean): PowerState => (isOn ? "on" : "off");

type Asked = Omit<Request, "url">;

/** Requests to a plug with an HTTP server. Each throws what `askHttp` throws. */
export class Plug {
  readonly host: string;

  constructor(
    private readonly url: string,
    private readonly reach: Reach,
  ) {
    this.host = hostOf(url);
  }

  /** `path` with its query. Every status is an answer. */
  ask(path: string, asked: Asked, signal: AbortSignal): Promise<Answer> {
    const check = "Check that it is on, in this network, and that its address in the settings is right.";
    const place = { name: this.host, check };
    return askHttp({ url: new URL(path, this.url).href, ...asked }, { place, reach: this.reach }, signal);
  }

  /** The JSON of an answer. Throws also DEVICE_UNAUTHORIZED, and DEVICE_ERROR for another status or shape. */
  async json<T extends z.ZodType>(
    shape: T,
    path: string,
    asked: Asked,
    signal: AbortSignal,
  ): Promise<z.output<T>> {
    return this.parse(shape, await this.ask(path, asked, signal));
  }

  parse<T extends z.ZodType>(shape: T, { status, text }: Answer): z.output<T> {
    if (status === 401 || status === 403) throw this.refused();
    if (status > 299) throw this.unexpected(`HTTP ${status}`);
    const parsed = shape.safeParse(readJson(z.unknown(), text));
    if (parsed.success) return parsed.data;
    throw this.unexpected(text === "" ? "nothing" : text.slice(0, 100));
  }

  refused(): DeviceError {
    const place = { name: this.host, check: "" };
    return unauthorized(
      place,
      "it refused the user, password or token",
      "Correct them in the device's settings.",
    );
  }

  unexpected(what: string): DeviceError {
    return new DeviceError(
      "DEVICE_ERROR",
      `${this.host} answered with ${what}, which this driver does not know. Check the address and that the driver fits the device.`,
    );
  }
}
