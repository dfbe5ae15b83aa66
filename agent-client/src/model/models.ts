import Anthropic from "@anthropic-ai/sdk";
import type { ModelSettings, Settings } from "../settings.ts";
import { factsOf, type ModelFacts } from "./facts.ts";
import { failureOf } from "./failure.ts";
import { type KeyPlaces, keyOf } from "./key.ts";

/** A model that can be asked: the SDK's client for its endpoint. */
export type ModelEndpoint = Pick<ModelSettings, "model" | "effort" | "thinking"> & {
  client: Pick<Anthropic, "beta">;
  /** Without a price costs are unknown, and a limit of cost ends the run before it begins. */
  facts: ModelFacts;
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

export type ModelOptions = KeyPlaces & {
  settings: Settings;
  /** Chosen for this process, before those of the settings. */
  model?: string | undefined;
  fetch?: typeof fetch | undefined;
};

/** The models of the settings, in order; DEFAULT_MODEL or our default where there are none. */
export function openModels(options: ModelOptions): ModelSource {
  const clients = new Map<string, Anthropic>();
  const clientFor = (apiKey: string, baseURL: string | null): Anthropic => {
    const known = `${apiKey} ${baseURL}`;
    const given = { apiKey, baseURL, maxRetries, timeout: beginMs, fetch: options.fetch };
    const client = clients.get(known) ?? new Anthropic(given);
    clients.set(known, client);
    return client;
  };
  const endpoint = (given: ModelSettings): ModelEndpoint[] => {
    const key = keyOf(given, options);
    if (key === undefined) return [];
    const client = clientFor(key, given.base_url ?? (options.env.ANTHROPIC_BASE_URL || null));
    const { model, effort, thinking, price, inline_tools } = given;
    const settings = { ...(price && { price }), ...(inline_tools !== undefined && { inline_tools }) };
    return [{ model, client, facts: { ...factsOf(model), ...settings }, effort, thinking }];
  };
  const current = () => modelsOf(options).flatMap(endpoint);
  const { router_model } = options.settings;
  return { current, router: () => (router_model && endpoint(router_model)[0]) ?? current()[0] };
}

function modelsOf({ settings, env, model }: ModelOptions): readonly ModelSettings[] {
  const known = settings.models.filter((one) => one.model === model);
  if (model !== undefined) return [...(known.length > 0 ? known : [{ model }])];
  return settings.models.length > 0 ? settings.models : [{ model: env.DEFAULT_MODEL || defaultModel }];
}

/** One call with a key: false when it is refused. Throws an AgentError when none could be made. */
export async function tryKey(key: string, given: Pick<ModelOptions, "settings" | "env">): Promise<boolean> {
  const env = { ...given.env, ANTHROPIC_API_KEY: key };
  const [endpoint] = openModels({ ...given, env, keyFile: "" }).current();
  if (!endpoint) return false;
  const { client, model } = endpoint;
  try {
    const messages = [{ role: "user" as const, content: "Hello" }];
    await client.beta.messages.create({ model, max_tokens: 1, messages });
    return true;
  } catch (error) {
    const failure = failureOf(error, model).error;
    if (failure.code === "API_KEY_INVALID") return false;
    throw failure;
  }
}
