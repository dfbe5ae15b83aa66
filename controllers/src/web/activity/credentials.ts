const masked = "[masked]";

/** Names whose values are credentials, as a part of a name or as the whole of one. */
const parts =
  "passw(?:or)?d|passphrase|passcode|pwd|secret|token|api[_-]?key|authorization|credential|cookie|session[_-]?(?:id|key)|sess(?:ion)?id|jwt|bearer";
const wholes = "pass|pin|otp|sid|auth|cvv|cvc|session|assertion|code_verifier|signature";
const credentialName = new RegExp(`${parts}|^(?:${wholes})$`, "i");

const within = `(?:[^"\\\\]{0,60}(?:${parts})[^"\\\\]{0,60}|${wholes})`;
/** A member of JSON, also of a part of one that was cut, and of JSON within JSON. */
const member = new RegExp(
  `(\\\\?"${within}\\\\?"\\s*:\\s*)(?:"(?:[^"\\\\]|\\\\.)*(?:"|$)|\\\\"[^"\\\\]*(?:\\\\"|$)|-?\\d[\\d.]*)`,
  "gi",
);
const inForm = `(?:[\\w.%[\\]-]{0,60}(?:${parts})[\\w.%[\\]-]{0,60}|${wholes})`;
const field = new RegExp(`((?:^|[&?;\\s])${inForm}=)[^&;\\s"'<>]+`, "gi");
const part = new RegExp(
  `(name="${within}"[^\\r\\n]{0,200}(?:\\r?\\n[^\\r\\n]{1,200}){0,5}\\r?\\n\\r?\\n)[^\\r\\n]+`,
  "gi",
);
/** A member of an object as consoles show it, and a header's line. */
const line = new RegExp(`((?:^|[{,]) {0,20}'?${inForm}'?: {0,20})[^,}\\r\\n]+`, "gim");
/** The password in an address. */
const inAddress = /(:\/\/[^\s/:@]{0,100}:)[^\s/@]+@/g;
const header = /\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/g;
const jsonWebToken = /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g;

/** True if a value of this name is a credential, such as that of the cookie `session_id`. */
const isCredentialName = (name: string): boolean => credentialName.test(name);

/**
 * Hides credentials in a body, an address or a line of a console by their names: in JSON, forms and multipart forms; and tokens by
 * their form: bearer, basic and JSON web tokens. The server also hides the values of its secrets, wherever they are.
 */
export function hideCredentials(text: string): string {
  return text
    .replace(member, `$1"${masked}"`)
    .replace(part, `$1${masked}`)
    .replace(field, `$1${masked}`)
    .replace(line, `$1${masked}`)
    .replace(inAddress, `$1${masked}@`)
    .replace(header, `$1 ${masked}`)
    .replace(jsonWebToken, masked);
}

/** A cookie's value, hidden where scripts may not read it or its name says that it is a credential. */
export const shownValue = ({
  name,
  value,
  httpOnly = false,
}: {
  name: string;
  value: string;
  httpOnly?: boolean;
}) => (httpOnly || isCredentialName(name) ? masked : hideCredentials(value));
