import { parseAllDocuments } from "yaml";
import { z } from "zod";

type Step = { command: string; params: Readonly<Record<string, unknown>> };

const longestFlow = 20_000;
const element = z.union([z.string(), z.object({ text: z.string().optional(), id: z.string().optional() })]);
const app = z.union([z.string(), z.object({ appId: z.string().optional() })]);

/** The commands of a Maestro flow as ours. Undefined where one has no counterpart, or where it is no flow. */
export function stepsOfFlow(yaml: string): Step[] | undefined {
  if (yaml.length > longestFlow) return undefined;
  const documents = parseAllDocuments(yaml).map((document) =>
    document.errors.length > 0 ? undefined : document.toJS(),
  );
  const flow: unknown = documents.at(-1);
  if (!Array.isArray(flow) || flow.length === 0) return undefined;
  const head = z.object({ appId: z.string() }).safeParse(documents[0]);
  const steps = flow.map((step) => stepOf(step, head.data?.appId));
  return steps.every((step) => step !== undefined) ? steps : undefined;
}

function stepOf(given: unknown, appId: string | undefined): Step | undefined {
  const [name, value] = typeof given === "string" ? [given, undefined] : (oneEntry(given) ?? []);
  switch (name) {
    case "tapOn":
      return onElement("click_element", value);
    case "doubleTapOn":
      return onElement("double_click", value);
    case "assertVisible":
      return typeof value === "string"
        ? step("text_visible", { text: value })
        : onElement("element_visible", value);
    case "assertNotVisible":
      return onElement("element_hidden", value);
    case "inputText":
      return typeof value === "string" ? step("type_text", { text: value }) : undefined;
    case "pressKey":
      return typeof value === "string" ? step("press_key", { key: value }) : undefined;
    case "back":
      return step("press_key", { key: "BACK" });
    case "scroll":
      return step("scroll", { direction: "down" });
    case "scrollUntilVisible":
      return onElement("scroll_to_element", oneEntry(value)?.[1]);
    case "launchApp":
      return onApp("open_app", value ?? appId);
    case "stopApp":
      return onApp("close_app", value ?? appId);
    default:
      return undefined;
  }
}

const step = (command: string, params: Step["params"]): Step => ({ command, params });

function onElement(command: string, value: unknown): Step | undefined {
  const { data } = element.safeParse(value);
  if (typeof data === "string") return step(command, { selector: data });
  if (data?.text !== undefined) return step(command, { selector: data.text });
  return data?.id === undefined ? undefined : step(command, { selector: `id=${data.id}` });
}

function onApp(command: string, value: unknown): Step | undefined {
  const { data } = app.safeParse(value);
  const id = typeof data === "string" ? data : data?.appId;
  return id === undefined ? undefined : step(command, { app: { package: id } });
}

function oneEntry(value: unknown): [string, unknown] | undefined {
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return entries.length === 1 ? entries[0] : undefined;
}
