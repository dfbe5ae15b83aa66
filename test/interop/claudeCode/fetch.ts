import { fetchProgram } from "../fetchProgram.ts";

const platform = `${process.platform}-${process.arch}`;

/** The program of Claude Code at its pinned version: about 360 MB. */
export const claudeCode = (): string =>
  fetchProgram("@anthropic-ai/claude-code@2.1.330", `@anthropic-ai/claude-code-${platform}/claude`);
