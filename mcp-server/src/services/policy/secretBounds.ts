import { DeviceError } from "@labwright/controllers";
import { secretsNamedIn, secretVariablePrefix } from "../../config/secretPlaceholder.ts";
import { parseUrlPattern } from "../../domain/urlPattern.ts";
import type { SecretPlace, Secrets } from "../ports.ts";
import { matchesUrl } from "./urlPolicy.ts";

/**
 * Where a secret may go, as the configuration says. Without `hosts`: to this machine, to hosts that the configuration names for
 * something else, and into apps. With `*` among them: wherever the URL policy allows.
 */
export type SecretBounds = {
  hosts?: readonly string[] | undefined;
  fields?: "password" | "any" | undefined;
};

const appPrefix = "app:";

/** Whether the owner of the configuration lets a secret go anywhere. */
export const isAnywhere = ({ hosts }: SecretBounds): boolean => hosts?.includes("*") === true;

/** A secret with hosts of its own is typed into password fields alone, unless it says otherwise. */
const isForPasswords = (bounds: SecretBounds): boolean =>
  (bounds.fields ?? (bounds.hosts && !isAnywhere(bounds) ? "password" : "any")) === "password";

/** The bounds of secrets by name, wherever their values come from. `hosts` are those that the configuration names by itself. */
export function createBounds(
  sources: Readonly<Record<string, SecretBounds>>,
  hosts: readonly string[],
): Pick<Secrets, "areBound" | "appsOf" | "allow"> {
  const usual = ["localhost", ...hosts];
  const known = (name: string) => (Object.hasOwn(sources, name) ? sources[name] : undefined);
  const boundsOf = (name: string): SecretBounds => known(name) ?? {};
  return {
    areBound: (value) => secretsNamedIn(value).some((name) => isBound(boundsOf(name))),
    appsOf: (value) => secretsNamedIn(value).flatMap((name) => appsOf(boundsOf(name))),
    allow(value, place) {
      for (const name of secretsNamedIn(value)) {
        const bounds = boundsOf(name);
        if (!isAllowed(bounds.hosts, usual, place)) throw misplaced(name, known(name), place);
        if ("url" in place && place.field === "other" && isForPasswords(bounds))
          throw refused(
            name,
            place,
            `is only typed into password fields, and this is another one. Nothing was typed. Name the password field, or have the owner of labwright.yaml set secrets.${name}.fields to any.`,
          );
      }
    },
  };
}

const isBound = (bounds: SecretBounds): boolean => !isAnywhere(bounds) || isForPasswords(bounds);

function isAllowed(
  hosts: readonly string[] | undefined,
  usual: readonly string[],
  place: SecretPlace,
): boolean {
  if (isAnywhere({ hosts }) || (hosts === undefined && "app" in place)) return true;
  return (hosts ?? usual).some((host) => isAt(host, place));
}

function misplaced(name: string, bounds: SecretBounds | undefined, place: SecretPlace): DeviceError {
  const nothing = `may not go to ${nameOf(place)}`;
  if (bounds?.hosts)
    return refused(
      name,
      place,
      `${nothing}: secrets.${name}.hosts has ${bounds.hosts.join(", ")}. Nothing was typed or sent. Use the secret of this place, or have the owner of labwright.yaml add it there.`,
    );
  const host = "url" in place && URL.canParse(place.url) ? new URL(place.url).host : "shop.example";
  const hosts = `hosts: ["${host}"]`;
  const line = bounds
    ? `${hosts} under secrets.${name}`
    : `${name}: { env: ${secretVariablePrefix}${name}, ${hosts} } under secrets`;
  return refused(
    name,
    place,
    `${nothing}: it has no hosts, so it only goes to this machine and to hosts that a trusted labwright.yaml names in environments or web_server. Nothing was typed or sent. If this place may have it, have the owner of labwright.yaml add ${line}.`,
  );
}

/** The apps that a secret may be typed into. */
const appsOf = ({ hosts = [] }: SecretBounds): string[] =>
  hosts.flatMap((host) => (host.startsWith(appPrefix) ? [host.slice(appPrefix.length)] : []));

function isAt(host: string, place: SecretPlace): boolean {
  if ("app" in place) return host === `${appPrefix}${place.app}`;
  if (host.startsWith(appPrefix) || !URL.canParse(place.url)) return false;
  const { origin } = new URL(place.url);
  return URL.canParse(origin) && matchesUrl(parseUrlPattern(host), new URL(origin));
}

function nameOf(place: SecretPlace): string {
  if ("app" in place) return place.app === undefined ? "this device" : `the app ${place.app}`;
  return URL.canParse(place.url) ? new URL(place.url).origin : "a page without an address";
}

const refused = (name: string, place: SecretPlace, reason: string) =>
  new DeviceError("SECRET_NOT_ALLOWED", `The secret "${name}" ${reason}`, {
    secret: name,
    place: nameOf(place),
  });
