import { z } from "zod";
import { refused, unauthorized } from "../wire/failures.ts";
import { askHttp, type Request } from "../wire/http.ts";
import { readJson } from "../wire/json.ts";
import type { Reach } from "../wire/sockets.ts";

export type BoxSettings = { url: string; user: string; password: string };

const cookieName = "one_kvm_session";
const loginSchema = z.object({ next: z.string().optional() });
const saidSchema = z.object({ message: z.string() });

/** One One-KVM and our session with it. */
export class KvmBox {
  readonly place;
  readonly #settings: BoxSettings;
  readonly #reach: Reach;
  #session: Promise<string> | undefined;

  constructor(settings: BoxSettings, reach: Reach) {
    this.#settings = settings;
    this.#reach = reach;
    const host = URL.canParse(settings.url) ? new URL(settings.url).host : settings.url;
    this.place = {
      name: `the One-KVM at ${host}`,
      check: "Switch it on, or correct controllers.one_kvm.url.",
    };
  }

  /**
   * The JSON of an answer, in our session. Throws what `askHttp` throws, DEVICE_UNAUTHORIZED, and DEVICE_ERROR for a refusal or
   * an answer of another shape.
   */
  async ask<T extends z.ZodType>(
    shape: T,
    path: string,
    { body, ms }: { body?: object; ms?: number },
    signal: AbortSignal,
  ): Promise<z.output<T>> {
    const post = body && { method: "POST" as const, body: JSON.stringify(body) };
    const send = async () => {
      const headers = { cookie: await this.cookie(signal), "content-type": "application/json" };
      return this.#send(path, { ...post, ...(ms !== undefined && { ms }), headers }, signal);
    };
    let answer = await send();
    if (answer.status === 401) {
      this.#session = undefined;
      answer = await send();
    }
    const json = readJson(z.unknown(), answer.text);
    if (answer.status > 299) {
      const said = saidSchema.safeParse(json).data?.message ?? `HTTP ${answer.status}`;
      throw refused(this.place, said, "See its own page for the cause.");
    }
    const parsed = shape.safeParse(json);
    if (parsed.success) return parsed.data;
    throw refused(
      this.place,
      `its answer to ${path} is not One-KVM's`,
      "Correct controllers.one_kvm.url; One-KVM 0.1 or newer is needed.",
    );
  }

  /** The header by which requests are in our session; logs in when there is none. */
  cookie(signal: AbortSignal): Promise<string> {
    if (this.#session) return this.#session;
    const session = this.#login(signal);
    this.#session = session;
    session.catch(() => {
      if (this.#session === session) this.#session = undefined;
    });
    return session;
  }

  async #login(signal: AbortSignal): Promise<string> {
    const { user: username, password } = this.#settings;
    const body = JSON.stringify({ username, password });
    const headers = { "content-type": "application/json" };
    const answer = await this.#send("/api/auth/login", { method: "POST", headers, body }, signal);
    const fix = "Correct controllers.one_kvm.user and password.";
    if (answer.status === 401 || answer.status === 403)
      throw unauthorized(this.place, "it does not know this user and password", fix);
    if (readJson(loginSchema, answer.text)?.next === "totp")
      throw unauthorized(
        this.place,
        "this user logs in with a second factor",
        "Switch it off in the One-KVM's settings.",
      );
    const cookie = answer.headers["set-cookie"]?.find((one) => one.startsWith(`${cookieName}=`));
    if (answer.status === 200 && cookie) return cookie.split(";", 1)[0] ?? cookie;
    throw refused(
      this.place,
      `HTTP ${answer.status} and no session for a login`,
      "Correct controllers.one_kvm.url; One-KVM 0.1 or newer is needed.",
    );
  }

  #send(path: string, request: Omit<Request, "url">, signal: AbortSignal) {
    const url = new URL(path, this.#settings.url).href;
    return askHttp({ ...request, url }, { place: this.place, reach: this.#reach }, signal);
  }
}
