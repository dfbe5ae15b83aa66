import { createHmac } from "node:crypto";

/** Where our clients on this machine ask the daemon to prove that it knows the token, before they send it. */
export const proofPath = "/proof";

/**
 * Answers a challenge. The port is part of it, so that a program on another port cannot pass on the proof of the daemon.
 */
export const proofOf = (token: string, challenge: string, port: number): string =>
  createHmac("sha256", token).update(`labwright proof ${challenge} ${port}`).digest("hex");
