import { readFileSync } from "node:fs";
import Anthropic from "@anthropic-ai/sdk";
import type { ModelSettings, Settings } from "../settings.ts";
import type { Price } from "./usage.ts";

/** A model that can be asked: the SDK's client for its endpoint. */
export type ModelEndpoint = {
  model: string;
  client: Pick<Anthropic, "beta">;
  /** Undefined when nobody told: costs are unknown then, and a limit of cost ends the run before it begins. */
  price: Price | undefined;
};

/** `current` is empty without a key. A key that is saved while this runs counts from the next run on. */
export type ModelSource = {
  current(): readonly ModelEndpoint[];
  /** The one that chooses skills. */
  router(): ModelEndpoint | undefined;
};

const defaultModel = "claude-sonnet-5-5";
const maxRetries = 2;
/** The longest that a server may take to begin a reply. */
const beginMs = 600_000;

/** US dollars for a million tokens: platform.claude.com, Models overview, November 2026. The longest beginning counts. */
const prices: readonly [string, Price][] = [
  ["claude-opus-5-5", { input: 4, output: 20 }],
  ["claude-sonnet-5-5", { input: 2, output: 10 }],
  ["claude-haiku-5-5", { input: 0.1, output: 0.5 }],
  ["claude-fable-5-1", { input: 10, output: 50 }],
];

export type ModelOptions = {
  settings: Settings;
  env: Readonly<Record<string, string | undefined>>;
  /** With the key that `POST api-key` saved. */
  keyFile: string;
  /** Chosen for this process, before those of the settings. */
  model?: string | undefined;
  fetch?: typeof fetch | undefined;
};

/** The models of the settings, in order; DEFAULT_MODEL or our default where there are none. */
export function openModels(options: ModelOptions): ModelSource {
  const clients = new Map<string, Pick<Anthropic, "beta">>();
  const endpoint = (given: ModelSettings): ModelEndpoint[] => {
    const key = keyOf(given, options);
    if (key === undefined) return [];
    const baseURL = given.base_url ?? (options.env.ANTHROPIC_BASE_URL || undefined);
    const name = JSON.stringify([baseURL, key]);
    const client = clients.get(name) ?? clientOf(key, baseURL, options.fetch);
    clients.set(name, client);
    return [{ model: given.model, client, price: given.price ?? priceOf(given.model) }];
  };
  const current = () => modelsOf(options).flatMap(endpoint);
  return {
    current,
    router: () => [...[options.settings.router_model ?? []].flat().flatMap(endpoint), ...current()][0],
  };
}

function modelsOf({ settings, env, model }: ModelOptions): readonly ModelSettings[] {
  const known = settings.models.filter((one) => one.model === model);
  if (model !== undefined) return [...(known.length > 0 ? known : [{ model }])];
  return settings.models.length > 0 ? settings.models : [{ model: env.DEFAULT_MODEL || defaultModel }];
}

const clientOf = (apiKey: string, baseURL: string | undefined, fetch: ModelOptions["fetch"]) =>
  new Anthropic({ apiKey, baseURL: baseURL ?? null, maxRetries, timeout: beginMs, ...(fetch && { fetch }) });

function keyOf({ api_key_env }: ModelSettings, { env, keyFile }: ModelOptions): string | undefined {
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

const priceOf = (model: string): Price | undefined =>
  prices.filter(([name]) => model.startsWith(name)).sort(([a], [b]) => b.length - a.length)[0]?.[1];
