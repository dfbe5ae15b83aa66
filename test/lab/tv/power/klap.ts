import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";

const sha256 = (...parts: (string | Uint8Array)[]) =>
  parts.reduce((all, part) => all.update(part), createHash("sha256")).digest();
const sha1 = (text: string) => createHash("sha1").update(text).digest();

export type KlapReply = { status: number; body: Uint8Array; cookie?: string };

/** The plug's side of KLAP: one session, which `requests` answers. */
export function klapPlug(user: string, password: string, answer: (request: unknown) => unknown) {
  const account = sha256(sha1(user), sha1(password));
  let [local, remote]: [Buffer, Buffer] = [Buffer.alloc(0), Buffer.alloc(0)];
  let isOpen = false;
  const nothing = (status: number): KlapReply => ({ status, body: Buffer.alloc(0) });
  const shakeFirst = (body: Buffer): KlapReply => {
    [local, remote, isOpen] = [body, randomBytes(16), false];
    const proof = Buffer.concat([remote, sha256(local, remote, account)]);
    return { status: 200, body: proof, cookie: "TP_SESSIONID=lab;TIMEOUT=86400" };
  };
  const shakeSecond = (body: Buffer): KlapReply => {
    isOpen = body.equals(sha256(remote, local, account));
    return nothing(isOpen ? 200 : 403);
  };
  const request = (body: Buffer, seqNumber: number): KlapReply => {
    if (!isOpen) return nothing(403);
    const secrets = [local, remote, account];
    const seq = Buffer.alloc(4);
    seq.writeInt32BE(seqNumber);
    const key = sha256("lsk", ...secrets).subarray(0, 16);
    const iv = Buffer.concat([sha256("iv", ...secrets).subarray(0, 12), seq]);
    const signature = (sealed: Buffer) => sha256(sha256("ldk", ...secrets).subarray(0, 28), seq, sealed);
    const sealed = body.subarray(32);
    if (!signature(sealed).equals(body.subarray(0, 32))) return nothing(400);
    const open = createDecipheriv("aes-128-cbc", key, iv);
    const asked = JSON.parse(Buffer.concat([open.update(sealed), open.final()]).toString());
    const seal = createCipheriv("aes-128-cbc", key, iv);
    const said = Buffer.concat([seal.update(JSON.stringify(answer(asked))), seal.final()]);
    return { status: 200, body: Buffer.concat([signature(said), said]) };
  };
  return (path: string, query: URLSearchParams, cookie: string, body: Buffer): KlapReply => {
    if (path === "/app/handshake1") return shakeFirst(body);
    if (!cookie.includes("TP_SESSIONID=lab")) return nothing(403);
    if (path === "/app/handshake2") return shakeSecond(body);
    return path === "/app/request" ? request(body, Number(query.get("seq"))) : nothing(404);
  };
}
