import type { Secrets } from "../../ports.ts";
import { changeZip } from "./zip.ts";

const isPicture = /\.(jpe?g|png|webp|gif|woff2?)$/i;

/**
 * A trace without the secrets in it: a trace tells what was typed, what the page held then, and what was sent. Pictures
 * stay as they are: they show what the screen showed.
 */
export function maskTrace(zip: Buffer, secrets: Pick<Secrets, "mask">): Promise<Buffer> {
  return changeZip(zip, (name, content) => {
    if (isPicture.test(name)) return content;
    const text = content.toString("utf8");
    const masked = secrets.mask(text);
    return masked === text ? content : Buffer.from(masked);
  });
}
