import { createCipheriv, createDecipheriv, createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { type Answer, type Asked, refused, unexpected } from "./http.ts";

type Post = (path: string, asked: Asked) => Promise<Answer>;
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
  readonly #post: Post;
  readonly #host: string;
  readonly #cookie: string;
  readonly #key: Buffer;
  readonly #iv: Buffer;
  readonly #signature: Buffer;
  #seq: number;

  private constructor(post: Post, host: string, cookie: string, secrets: readonly Buffer[]) {
    this.#post = post;
    this.#host = host;
    this.#cookie = cookie;
    const iv = hash("sha256", "iv", ...secrets);
    this.#key = hash("sha256", "lsk", ...secrets).subarray(0, 16);
    this.#iv = iv.subarray(0, 12);
    this.#seq = iv.readInt32BE(28);
    this.#signature = hash("sha256", "ldk", ...secrets).subarray(0, 28);
  }

  /** Throws DEVICE_UNAUTHORIZED for another account, DEVICE_ERROR for another protocol. */
  static async open(post: Post, host: string, user: string, password: string): Promise<Klap> {
    const account = hash("sha256", hash("sha1", user), hash("sha1", password));
    const local = randomBytes(16);
    const first = await post("/app/handshake1", { body: local });
    if (first.status !== 200 || first.bytes.length !== 48)
      throw unexpected(host, `HTTP ${first.status} to KLAP`);
    const remote = Buffer.from(first.bytes.subarray(0, 16));
    const proof = hash("sha256", local, remote, account);
    if (!timingSafeEqual(proof, first.bytes.subarray(16))) throw refused(host);
    const cookie = /TP_SESSIONID=[^;]+/.exec(first.headers.get("set-cookie") ?? "")?.[0] ?? "";
    const body = hash("sha256", remote, local, account);
    const second = await post("/app/handshake2", { body, headers: { cookie } });
    if (second.status !== 200) throw refused(host);
    return new Klap(post, host, cookie, [local, remote, account]);
  }

  /** The answer's JSON. Undefined when the plug has ended the session. */
  async ask(request: object): Promise<unknown> {
    this.#seq = (this.#seq + 1) | 0;
    const seq = counted(this.#seq);
    const cipher = createCipheriv("aes-128-cbc", this.#key, Buffer.concat([this.#iv, seq]));
    const sealed = Buffer.concat([cipher.update(JSON.stringify(request)), cipher.final()]);
    const body = Buffer.concat([hash("sha256", this.#signature, seq, sealed), sealed]);
    const answer = await this.#post(`/app/request?seq=${this.#seq}`, {
      body,
      headers: { cookie: this.#cookie },
    });
    if (answer.status === 401 || answer.status === 403) return undefined;
    if (answer.status !== 200) throw unexpected(this.#host, `HTTP ${answer.status}`);
    const decipher = createDecipheriv("aes-128-cbc", this.#key, Buffer.concat([this.#iv, seq]));
    try {
      const open = Buffer.concat([decipher.update(answer.bytes.subarray(32)), decipher.final()]);
      return JSON.parse(open.toString("utf8"));
    } catch {
      throw unexpected(this.#host, "what cannot be decrypted");
    }
  }
}
