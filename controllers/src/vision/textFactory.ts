import { z } from "zod";
import type { ControllerContext } from "../contract.ts";
import type { DiagnosisContext, DiagnosisFinding } from "../diagnosis.ts";
import { type DriverController, defineFactory, judging, nowhere } from "../factory.ts";
import { languagesSchema, textChecks } from "./textChecks.ts";
import { findEngine, visionAddon } from "./textEngine.ts";
import { menuCommand } from "./textMenu.ts";

const settings = z.strictObject({
  languages: languagesSchema.describe(
    "Of the texts on its screen, such as eng, fra, deu, spa. Each one more costs as much time.",
  ),
});
type Settings = z.output<typeof settings>;

const textController = ({ languages }: Settings, context: ControllerContext): DriverController =>
  judging({
    kind: "verification_text",
    commands: [menuCommand(context, languages)],
    checks: textChecks(context, languages),
  });

async function diagnoseText(
  { languages }: Settings,
  { addons }: DiagnosisContext,
): Promise<DiagnosisFinding[]> {
  const what = "texts in pictures";
  const fix = `Run: labwright setup ${visionAddon}`;
  const engine = await findEngine({ addons }).catch(() => undefined);
  if (!engine) return [{ what, status: "missing", detail: "nothing here reads them", fix }];
  const missing = languages.filter((language) => !engine.languages.includes(language));
  const install = `${fix}, or install the program tesseract with ${missing.map((language) => `tesseract-ocr-${language}`).join(", ")}`;
  if (missing.length > 0)
    return [{ what, status: "missing", detail: `no model of ${missing.join(", ")}`, fix: install }];
  const detail = `in ${languages.join(", ")}`;
  if (addons.state(visionAddon) === "installed") return [{ what, status: "ok", detail }];
  return [{ what, status: "warning", detail: `${detail}, by the program tesseract, which is slower`, fix }];
}

/** Reads and judges the texts in the picture of a device: of its frames, else of a screenshot. */
export const textFactory = defineFactory({
  name: "text",
  kinds: ["verification_text"],
  settings,
  offers: () => [textController(settings.parse({}), nowhere)],
  diagnose: diagnoseText,
  create: (given, context) => [textController(given, context)],
});
