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

/** Who has a lease's handle can drive its device. The start stays, so that lines of one lease can be found. */
const leaseHandle = /\b(lease-[\da-f]{8})-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/g;

/** The same text without what could be a key, a token, a password in a URL, or the handle of a lease. */
export function scrub(text: string): string {
  const clean = shapes.reduce((text, shape) => text.replace(shape, "[redacted]"), text);
  return clean.replace(leaseHandle, "$1-[redacted]");
}
