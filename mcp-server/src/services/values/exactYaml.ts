import { type ParsedYaml, parseYaml } from "../../config/parseYaml.ts";
import { isBeyondDouble } from "./exactNumbers.ts";

export type YamlQuestion = { file: string; text: string };

/** A number beyond JavaScript's precision becomes a placeholder of its digits. */
export const parseExactly = ({ file, text }: YamlQuestion): ParsedYaml =>
  parseYaml(file, text, (written) => (isBeyondDouble(written) ? `{{${written}}}` : Number(written)));
