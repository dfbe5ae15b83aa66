/** What keys and tokens look like, wherever they come from. Sources: the providers' documentation of their formats. */
const shapes: readonly RegExp[] = [
  /\bsk-ant-[A-Za-z0-9_-]{8,}/g,
  /\bsk-[A-Za-z0-9_-]{20,}/g,
  /\bgh[oprsu]_[A-Za-z0-9]{20,}/g,
  /\bgithub_pat_\w{20,}/g,
  /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)*/g,
  /(?<=\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/-]{8,}=*/gi,
  /(?<=\w:\/\/[^\s:@/"\\]{0,200}:)[^\s@/"\\]{1,200}(?=@)/g,
];

/** The same text with everything that could be a key, a token or a password in a URL taken out. */
export function scrub(text: string): string {
  return shapes.reduce((clean, shape) => clean.replace(shape, "[redacted]"), text);
}
