import { DeviceError } from "@labwright/controllers";
import { secretsNamedIn } from "../../config/secretPlaceholder.ts";
import { parseUrlPattern } from "../../domain/urlPattern.ts";
import type { SecretPlace, Secrets } from "../ports.ts";
import { matchesUrl } from "./urlPolicy.ts";

/** Where a secret may go, as the configuration says; without `hosts`, wherever the URL policy allows. */
export type SecretBounds = {
  hosts?: readonly string[] | undefined;
  fields?: "password" | "any" | undefined;
};

const appPrefix = "app:";

/** A secret with hosts is typed into password fields alone, unless it says otherwise. */
const isForPasswords = ({ hosts, fields }: SecretBounds): boolean =>
  (fields ?? (hosts ? "password" : "any")) === "password";

/** The bounds of secrets by name, wherever their values come from. */
export function createBounds(
  sources: Readonly<Record<string, SecretBounds>>,
): Pick<Secrets, "areBound" | "appsOf" | "allow"> {
  const boundsOf = (name: string): SecretBounds => (Object.hasOwn(sources, name) && sources[name]) || {};
  return {
    areBound: (value) => secretsNamedIn(value).some((name) => isBound(boundsOf(name))),
    appsOf: (value) => secretsNamedIn(value).flatMap((name) => appsOf(boundsOf(name))),
    allow(value, place) {
      for (const name of secretsNamedIn(value)) judgeSecret(name, boundsOf(name), place);
    },
  };
}

const isBound = (bounds: SecretBounds): boolean => bounds.hosts !== undefined || isForPasswords(bounds);

/** Throws SECRET_NOT_ALLOWED for a place that is not one of the secret's own. */
function judgeSecret(name: string, bounds: SecretBounds, place: SecretPlace): void {
  const { hosts } = bounds;
  if (hosts && !hosts.some((host) => isAt(host, place))) {
    throw refused(
      name,
      place,
      `may not go to ${nameOf(place)}: secrets.${name}.hosts has ${hosts.join(", ")}. Nothing was typed or sent. Use the secret of this place, or have the owner of labwright.yaml add it there.`,
    );
  }
  if ("url" in place && place.field === "other" && isForPasswords(bounds)) {
    throw refused(
      name,
      place,
      `is only typed into password fields, and this is another one. Nothing was typed. Name the password field, or have the owner of labwright.yaml set secrets.${name}.fields to any.`,
    );
  }
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
