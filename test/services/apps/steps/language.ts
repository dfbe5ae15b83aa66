import { testcaseSchema } from "#mcp-server/domain/index.ts";
import { compileSteps, type Language } from "#mcp-server/services/apps/steps/index.ts";
import { builtInVerbs } from "../../../fixtures/verbs.ts";

const sees = (text: string) => ({ command: "text_visible", params: { text } });
const place = (label: string, ...texts: string[]) => ({
  ...{ label, verifications: texts.map(sees), pass_condition: "all" as const },
});

/** A shop's nodes and test cases, with the commands and checks of all built-in drivers. */
export const language: Language = {
  vocabulary: {
    places: [
      place("Home", "Home"),
      place("Cart", "Your cart", "Pay"),
      { ...place("Player", "Pause", "Play"), pass_condition: "any" },
      place('it\'s "odd"', "odd"),
    ],
    testcases: ["log in", "add one"],
    commands: undefined,
    checks: undefined,
  },
  verbs: builtInVerbs(),
};

/** The test case of steps, and what is wrong with them, each with its path. */
export function compiled(steps: readonly unknown[]) {
  const { blocks, edges, problems } = compileSteps(steps, language);
  return {
    problems: problems.map(({ path, message }) => `${path.join(".")}: ${message}`),
    parse: () => testcaseSchema.parse({ name: "x", blocks, edges }),
  };
}
