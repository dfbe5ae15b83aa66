import { readFileSync } from "node:fs";

export type KeyPlaces = {
  env: Readonly<Record<string, string | undefined>>;
  /** With the key that `POST api-key` saved. */
  keyFile: string;
};

/** The key of a model: that of its own variable, ANTHROPIC_API_KEY, or the saved one. */
export function keyOf(
  { api_key_env }: { api_key_env?: string | undefined },
  { env, keyFile }: KeyPlaces,
): string | undefined {
  if (api_key_env !== undefined) return env[api_key_env] || undefined;
  return env.ANTHROPIC_API_KEY || savedKey(keyFile);
}

function savedKey(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}
