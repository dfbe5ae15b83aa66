import { ToolError } from "../../errors.ts";

const mostLevels = 100;
const mostValues = 200_000;

/** Throws INPUT_TOO_LARGE for arguments nested so deep, or of so many values, that checking them would hold other calls. */
export function boundInput(args: unknown): void {
  let values = 0;
  let level: unknown[] = [args];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > mostLevels) throw tooLarge(`are nested deeper than ${mostLevels} levels`);
    values += level.length;
    if (values > mostValues) throw tooLarge(`have more than ${mostValues} values`);
    level = level.flatMap((value) =>
      typeof value === "object" && value !== null ? Object.values(value) : [],
    );
  }
}

const tooLarge = (what: string) =>
  new ToolError("INPUT_TOO_LARGE", `The arguments ${what}.`, "Send less at once, or in several calls.");
