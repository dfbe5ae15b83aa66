import type { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

type Prompt = {
  name: string;
  title: string;
  description: string;
  argsSchema: z.ZodObject<Record<string, typeof text | typeof optional>>;
  /** The tools it speaks of are those it needs. */
  text(given: Readonly<Record<string, string | undefined>>): string;
};

const text = z.string().min(1).max(2_000);
const optional = text.optional();

/** Work that people start from a host's menu. The texts are ours; what a user fills in is quoted in them. */
const prompts: readonly Prompt[] = [
  {
    name: "explore_app",
    title: "Explore an app",
    description: "Learn an app's screens and keep them as a navigation tree",
    argsSchema: z.object({ userinterface: text, device: optional }),
    text: ({
      userinterface,
      device,
    }) => `Explore the app ${quoted(userinterface)}${onDevice(device)} and build its navigation tree.

1. list_userinterfaces: if it is not there, ask me for its address and make it with create_userinterface.
2. take_control of the device, then dump_ui_elements to see the first screen.
3. For each new screen: create_node with a short label and a verification that holds only there (verify_node proves it). For each way between two screens: create_edge with the actions that take it, forward and back.
4. execute_edge proves each edge as soon as it is made. Go on until every screen that a user reaches in two steps is in the tree. Buy, delete and send nothing.
5. validate_navigation at the end, release_control, and summarize the tree in a few lines and which edges failed.`,
  },
  {
    name: "write_test",
    title: "Write a test",
    description: "Turn a goal into a test case that checks something, and run it once",
    argsSchema: z.object({ goal: text, userinterface: text }),
    text: ({
      goal,
      userinterface,
    }) => `Write a test case for the app ${quoted(userinterface)}: ${quoted(goal)}.

1. preview_userinterface shows its screens. Use their labels in navigation blocks; do not repeat the actions that lead there.
2. list_verifications gives the checks. Every test has at least one that would fail if the goal were not met.
3. save_testcase; it names every problem of the graph at once. Correct them and save again.
4. execute_testcase once. If it fails, say whether the app or the test is wrong before you change anything, and never weaken a check to make it pass.
5. Report the test's name, its checks in words, and the verdict of the run.`,
  },
  {
    name: "investigate_failure",
    title: "Investigate a failure",
    description: "Find out why a run failed, with evidence",
    argsSchema: z.object({ execution_id: text }),
    text: ({ execution_id: id }) => `Find out why the run ${quoted(id)} did not pass.

1. get_execution_status shows its steps; begin at the first that failed. get_execution_report has the pictures.
2. load_testcase, if it was a test: what was that step for, and what did it expect?
3. Look whether the device still shows it: dump_ui_elements and verify_device_state with the same check.
4. Decide between a bug of the app, a wrong test, and a fault of the device or the network. Name the evidence for it, and what speaks against it.
5. Change nothing. Report cause, evidence, how sure you are, and what to do next.`,
  },
  {
    name: "heal_test",
    title: "Heal a test",
    description: "Repair a test that broke because the app's screens changed",
    argsSchema: z.object({ testcase: text, device: optional }),
    text: ({
      testcase,
      device,
    }) => `The test case ${quoted(testcase)} fails${onDevice(device)}, probably since the app's screens changed. Repair it.

1. execute_testcase and get_execution_status: which step fails, and what was found in place of what was expected?
2. A changed way or screen is repaired in the tree (get_edge, update_edge, update_node), since all tests use it; a changed step in the test (load_testcase, save_testcase).
3. Take the new selector from dump_ui_elements with detail: full, the best one that is unique.
4. If the app does what it should not do any more, it is a bug: leave the test as it is and report it. Never remove or weaken a check to make it pass.
5. Run it again, and show me what you changed, before and after.`,
  },
  {
    name: "generate_code",
    title: "Generate code",
    description: "Write code for a requirement, and check it by running it",
    argsSchema: z.object({ requirement: text, language: optional }),
    text: ({
      requirement,
      language,
    }) => `Write ${language === undefined ? "" : `${quoted(language)} `}code for this: ${quoted(requirement)}.

1. workspace_files with operation list: keep to the names and the style of what is there.
2. Write the code, and a test that fails without it, with workspace_files. Correct what it reports as "problem".
3. run_tests, or execute_code where no test runner is installed. Correct the code until it passes; never weaken the test.
4. Answer with one JSON object: {"code": string, "language": string, "lines_of_code": integer}, where code is what the file holds.`,
  },
];

/** The prompts whose tools this address has: the others would send a model to missing tools. */
export function registerPrompts(mcp: McpServer, tools: readonly { name: string }[]): void {
  const there = new Set(tools.map(({ name }) => name));
  for (const prompt of prompts) {
    const { name, text, ...config } = prompt;
    if (!toolsOf(prompt).every((tool) => there.has(tool))) continue;
    mcp.registerPrompt(name, config, (given) => ({
      messages: [{ role: "user", content: { type: "text", text: text(given) } }],
    }));
  }
}

/** Names of tools are the only words of ours that have an underscore, but for keys of an answer, which are in quotes. */
const toolsOf = ({ text }: Prompt): string[] => text({}).match(/(?<!")\b[a-z]+(_[a-z]+)+\b/g) ?? [];

const quoted = (given: string | undefined) => JSON.stringify(given ?? "");
const onDevice = (device: string | undefined) =>
  device === undefined ? "" : ` on the device ${quoted(device)}`;
