import type { Settings } from "../settings.ts";
import { failureOf } from "./failure.ts";
import { openModels } from "./models.ts";

/** One call with a key: false when it is refused. Throws an AgentError when none could be made. */
export async function tryKey(
  key: string,
  given: { settings: Settings; env: Readonly<Record<string, string | undefined>> },
): Promise<boolean> {
  const env = { ...given.env, ANTHROPIC_API_KEY: key };
  const [endpoint] = openModels({ ...given, env, keyFile: "" }).current();
  if (!endpoint) return false;
  const { client, model } = endpoint;
  try {
    await client.beta.messages.create({
      model,
      max_tokens: 1,
      messages: [{ role: "user", content: "Hello" }],
    });
    return true;
  } catch (error) {
    const failure = failureOf(error, model).error;
    if (failure.code === "API_KEY_INVALID") return false;
    throw failure;
  }
}
