import { createCipheriv, createDecipheriv, createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Plug } from "./http.ts";

const hash = (kind: "sha1" | "sha256", ...parts: readonly (string | Uint8Array)[]): Buffer =>
  parts.reduce((all, part) => all.update(part), createHash(kind)).digest();

/** Counts up by one with each request; signed, 32 bits, big-endian. */
const counted = (seq: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(seq);
  return bytes;
};

/** A session of TP-Link's protocol KLAP (version 2): two handshakes by the account's hash, then encrypted requests. */
export class Klap {
  readonly #plug: Plug;
  readonly #cookie: string;
  readonly #key: Buffer;
  readonly #iv: Buffer;
  readonly #signature: Buffer;
  #seq: number;

  private constructor(plug: Plug, cookie: string, secrets: readonly Buffer[]) {
    this.#plug = plug;
    this.#cookie = cookie;
    const iv = hash("sha256", "iv", ...secrets);
    this.#key = hash("sha256", "lsk", ...secrets).subarray(0, 16);
    this.#iv = iv.subarray(0, 12);
    this.#seq = iv.readInt32BE(28);
    this.#signature = hash("sha256", "ldk", ...secrets).subarray(0, 28);
  }

  /** Throws DEVICE_UNAUTHORIZED for another account, DEVICE_ERROR for another protocol. */
  static async open(
    plug: Plug,
    { user, password }: { user: string; password: string },
    signal: AbortSignal,
  ): Promise<Klap> {
    const account = hash("sha256", hash("sha1", user), hash("sha1", password));
    const local = randomBytes(16);
    const first = await plug.ask("/app/handshake1", { method: "POST", body: local }, signal);
    if (first.status !== 200 || first.bytes.length !== 48)
      throw plug.unexpected(`HTTP ${first.status} to KLAP`);
    const remote = Buffer.from(first.bytes.subarray(0, 16));
    const proof = hash("sha256", local, remote, account);
    if (!timingSafeEqual(proof, first.bytes.subarray(16))) throw plug.refused();
    const cookie = /TP_SESSIONID=[^;]+/.exec(first.headers["set-cookie"]?.join() ?? "")?.[0] ?? "";
    const body = hash("sha256", remote, local, account);
    const answer = { method: "POST", body, headers: { cookie } } as const;
    const second = await plug.ask("/app/handshake2", answer, signal);
    if (second.status !== 200) throw plug.refused();
    return new Klap(plug, cookie, [local, remote, account]);
  }

  /** The answer's JSON. Throws DEVICE_UNAUTHORIZED when the plug has ended the session, DEVICE_ERROR. */
  async ask(request: object, signal: AbortSignal): Promise<unknown> {
    this.#seq = (this.#seq + 1) | 0;
    const seq = counted(this.#seq);
    const cipher = createCipheriv("aes-128-cbc", this.#key, Buffer.concat([this.#iv, seq]));
    const sealed = Buffer.concat([cipher.update(JSON.stringify(request)), cipher.final()]);
    const body = Buffer.concat([hash("sha256", this.#signature, seq, sealed), sealed]);
    const asked = { method: "POST", body, headers: { cookie: this.#cookie } } as const;
    const answer = await this.#plug.ask(`/app/request?seq=${this.#seq}`, asked, signal);
    if (answer.status === 401 || answer.status === 403) throw this.#plug.refused();
    if (answer.status !== 200) throw this.#plug.unexpected(`HTTP ${answer.status}`);
    const decipher = createDecipheriv("aes-128-cbc", this.#key, Buffer.concat([this.#iv, seq]));
    try {
      const open = Buffer.concat([decipher.update(answer.bytes.subarray(32)), decipher.final()]);
      return JSON.parse(open.toString("utf8"));
    } catch {
      throw this.#plug.unexpected("what cannot be decrypted");
    }
  }
}
