import { type Path, parseSource } from "../../../config/source.ts";
import { pathText } from "../../../domain/schemaProblems.ts";
import { type ErrorCode, ToolError } from "../../../errors.ts";
import { isBeyondDouble } from "../../values/exactNumbers.ts";

/** A number that a JavaScript number does not keep is stored as a placeholder of its digits. */
const numberOrPlaceholder = (written: string): unknown =>
  isBeyondDouble(written) ? `{{${written}}}` : Number(written);

const shownProblems = 20;

type Line = { line: number; column: number; path: string; message: string };

/** What is wrong with a file, each with its line and column. */
export class Problems {
  readonly lines: Line[] = [];
  private readonly source: ReturnType<typeof parseSource>;

  constructor(
    text: string,
    private readonly file: string | undefined,
  ) {
    this.source = parseSource(file ?? "yaml", text, numberOrPlaceholder);
    for (const { line = 1, column = 1, path, message } of this.source.problems)
      this.lines.push({ line, column, path, message });
  }

  get value(): unknown {
    return this.source.value;
  }

  /** Where a value is written, or one of its keys. */
  placeOf(path: Path, key?: string): Pick<Line, "line" | "column"> {
    const { line = 1, column = 1 } = this.source.problem(path, "", key);
    return { line, column };
  }

  add(path: Path, message: string, key?: string): void {
    this.lines.push({ ...this.placeOf(path, key), path: pathText(path), message });
  }

  /** Throws when there are problems. */
  check(code: ErrorCode = "INVALID_INPUT"): void {
    if (this.lines.length > 0) throw this.error(code);
  }

  error(code: ErrorCode): ToolError {
    const sorted = this.lines.toSorted((a, b) => a.line - b.line || a.column - b.column);
    const shown = sorted.slice(0, shownProblems);
    const text = shown.map(
      ({ line, column, path, message }) =>
        `line ${line}, column ${column}${path && ` ${path}`}: ${message.replace(/\.$/, "")}`,
    );
    const more = this.lines.length - shown.length;
    return new ToolError(
      code,
      `${this.file ?? "The YAML"} cannot be imported: ${text.join("; ")}${more > 0 ? `; and ${more} more` : ""}.`,
      "Nothing was imported. export_userinterface shows the form of one that exists.",
      { problems: shown },
    );
  }
}
