import { type Controller, withSecretInput } from "@labwright/controllers";
import { strictOf } from "../../../domain/strictOf.ts";
import type { OpenDevice, Secrets } from "../../ports.ts";
import { findCheck } from "../findCommand.ts";
import { type Prepared, secretTextOf } from "./prepare.ts";

type Where = { device: OpenDevice; controller: Controller; signal: AbortSignal };

/**
 * Runs a command. Where its text holds a secret, a browser judges each field at the moment of typing; any other device is judged
 * here, by the app in front. Throws SECRET_NOT_ALLOWED.
 */
export async function runJudged<T>(
  prepared: Prepared,
  secrets: Secrets,
  where: Where,
  run: () => Promise<T>,
): Promise<T> {
  const text = secretTextOf(prepared);
  if (secrets.named(text).length === 0) return run();
  const isBound = secrets.areBound(text);
  if (where.controller.kind !== "web") {
    if (isBound) secrets.allow(text, { app: await appInFront(secrets.appsOf(text), where) });
    return run();
  }
  const allow = ({ origin, ...field }: { origin: string; isPassword?: boolean }) =>
    secrets.allow(text, {
      url: origin,
      field: field.isPassword === undefined ? undefined : field.isPassword ? "password" : "other",
    });
  return withSecretInput({ isBound, allow }, run);
}

/** The one of these apps that is in front. */
async function appInFront(apps: readonly string[], { device, signal }: Where): Promise<string | undefined> {
  const found = findCheck(device, "app_shown");
  for (const app of found ? apps : []) {
    const input = found && strictOf(found.offered.input).parse({ app });
    if (input && (await found.offered.read(input, signal)).holds) return app;
  }
  return undefined;
}
