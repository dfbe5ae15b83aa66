const masked = "[masked]";

/** Query and fragment parameters whose value is a credential: OAuth, API keys, passwords, signed addresses of clouds. */
const parameters = [
  "access_key",
  "access_token",
  "api[_-]?key",
  "apitoken",
  "assertion",
  "auth_token",
  "authorization",
  "awsaccesskeyid",
  "bearer",
  "client_assertion",
  "client_secret",
  "code_verifier",
  "device_code",
  "id_token",
  "jwt",
  "oauth_token",
  "oauth_token_secret",
  "oauth_verifier",
  "passphrase",
  "passwd",
  "password",
  "private_token",
  "pwd",
  "refresh_token",
  "samlresponse",
  "secret",
  "session_token",
  "sig",
  "signature",
  "subscription-key",
  "token",
  "x-amz-credential",
  "x-amz-security-token",
  "x-amz-signature",
  "x-goog-credential",
  "x-goog-signature",
].join("|");

/** Also of an address that stands encoded in another one, and escaped as in JSON. */
const parameter = new RegExp(
  `((?:[?&#;]|%3F|%26|%23|\\\\u0026)(?:${parameters})(?:=|%3D))(?!\\[secret )(?:(?!%26|%23)[^\\s&#"'<>\\\\])+`,
  "gi",
);
const user = /(:(?:\/\/|\\\/\\\/))[^\s/?#"'<>\\]{1,1000}@/g;
const encodedUser = /(%3A%2F%2F)(?:(?!%2F|%3F|%23)[^\s/?#&"'<>]){1,1000}%40/gi;
const query = /[?#][^\s"'<>]+/g;

/** Hides credentials in addresses: user and password, the parameters above, and an OAuth `code` next to a `state`. */
export function maskAddresses(text: string): string {
  if (!/[=@]|%3D|%40/i.test(text)) return text;
  return text
    .replace(user, `$1${masked}@`)
    .replace(encodedUser, `$1${masked}%40`)
    .replace(parameter, `$1${masked}`)
    .replace(query, (found) =>
      /[?&#]state=/i.test(found) ? found.replace(/([?&#]code=)[^&#]+/gi, `$1${masked}`) : found,
    );
}
