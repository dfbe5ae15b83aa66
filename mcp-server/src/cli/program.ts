import { Command, Option } from "commander";
import { agentTaskStates } from "../storage/schema/taskStates.ts";
import { examples, nameTrustedConfig, readCount, withDaemonOptions } from "./commandOptions.ts";
import { addAndroidCommands } from "./commands/androidCommands.ts";
import { addAuditCommand } from "./commands/audit.ts";
import { runCall } from "./commands/call.ts";
import { runStatus, runStop } from "./commands/control.ts";
import type { InstallOptions } from "./commands/install.ts";
import { addListCommands } from "./commands/list.ts";
import { runLogs } from "./commands/logs.ts";
import { addMemoryCommand } from "./commands/memory.ts";
import { addReportCommand } from "./commands/reportCommand.ts";
import { addSkillStatsCommand } from "./commands/skillStats.ts";
import type { TrustOptions } from "./commands/trust.ts";
import { addTvCommands } from "./commands/tvCommands.ts";
import { addFolderCommands } from "./folder/commands.ts";
import type { DaemonOptions } from "./options.ts";
import { addOpenCommand } from "./page/open.ts";
import { addRunCommands } from "./programRun.ts";
import { addRecordCommand } from "./record/commands.ts";
import { type ExitCode, exitCodes, type Terminal, wrapText } from "./terminal.ts";
import { addTraceCommand } from "./trace/command.ts";
import { version } from "./version.ts";

/** Every command with its options and an example. `exit` hears the exit code of the one that ran. */
export function createProgram(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  const columns = terminal.columns ?? 100;
  const program = new Command("labwright")
    .description("Drives and judges real devices, and serves them to any MCP host.")
    .version(version(), "-v, --version", "the version of this Labwright")
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.out(wrapText(text, columns)),
      writeErr: (text) => terminal.err(wrapText(text, columns)),
      getOutHelpWidth: () => columns,
      getErrHelpWidth: () => columns,
    })
    .configureHelp({ sortSubcommands: true })
    .hook("preAction", (_, command) => nameTrustedConfig(command, terminal))
    .showHelpAfterError("(labwright --help lists the commands)")
    .addHelpText(
      "after",
      examples(
        "labwright init http://localhost:3000",
        "labwright run labwright --report reports",
        "labwright do open http://localhost:3000",
        'labwright keep "sign in"',
        "labwright list devices",
        "labwright open",
        "labwright install claude-code",
        'labwright ask "Run the test sign in"',
        "labwright doctor",
      ),
    );
  program.commandsGroup("Run tests:");
  addRunCommands(program, terminal, exit);
  addReportCommand(program, terminal, exit);
  addTraceCommand(program, terminal, exit);
  program.commandsGroup("Drive a device by hand:");
  addFolderCommands(program, terminal, exit);
  addRecordCommand(program, terminal, exit);
  program.commandsGroup("List what is available:");
  addListCommands(program, terminal, exit);
  addOpenCommand(program, terminal, exit);
  program.commandsGroup("Serve AI assistants:");
  addHostCommands(program);
  addInstallCommand(program, terminal, exit);
  program.commandsGroup("Talk with agents:");
  addAgentCommands(program, terminal, exit);
  addSkillsCommand(program, terminal, exit);
  program.commandsGroup("Look after the server:");
  addDaemonCommands(program, terminal, exit);
  addTrustCommand(program, terminal, exit);
  addAuditCommand(program, terminal, exit);
  addMemoryCommand(program, terminal, exit);
  addSetUpCommands(program, terminal, exit);
  addAndroidCommands(program, terminal, exit);
  addTvCommands(program, terminal, exit);
  return program;
}

/** These two start from bundles of their own, by `bin/labwright.js`; here they are only named. */
function addHostCommands(program: Command): void {
  withDaemonOptions(program.command("serve"))
    .description("runs the daemon here, in the foreground: MCP over HTTP, REST, metrics")
    .option("--host <address>", "address to listen on (LABWRIGHT_HOST)")
    .option("--port <port>", "port to listen on, 0 for a free one (LABWRIGHT_PORT)")
    .option("--until-idle", "ends when nothing has run for a while")
    .addHelpText("after", examples("labwright serve", "labwright serve --port 8080 --config labwright.yaml"));
  withDaemonOptions(program.command("mcp"))
    .description("serves MCP over stdin and stdout, for a host that starts it")
    .addHelpText("after", examples("labwright mcp --read-only", "labwright install json"));
}

/** Chat, ask and qa are the agent client's command line, which `bin/labwright.js` starts; here they are only named. */
function addAgentCommands(program: Command, terminal: Terminal, exit: (code: ExitCode) => void): void {
  program
    .command("chat")
    .description("talks with Claude about the devices, tests and results of the lab")
    .addHelpText("after", examples("labwright chat"));
  program
    .command("ask")
    .description("asks Claude once and prints the answer; for scripts and CI")
    .addHelpText("after", examples('labwright ask "Run the script goto on browser"'));
  program
    .command("qa")
    .description("plans tests for a goal, runs them in browsers and against the API, and judges the results")
    .addHelpText("after", examples("labwright qa --plan qa.yaml --report out"));
  const agents = program
    .command("agents")
    .description("the agents of this build and your own, and what they did by themselves")
    .addHelpText("after", examples("labwright agents", "labwright agents tasks --state failed"));
  withDaemonOptions(agents.command("list", { isDefault: true }))
    .description("lists them, and says what is wrong with your own files")
    .option("--json", "as JSON")
    .addHelpText("after", examples("labwright agents list", "labwright agents list --json"))
    .action(async (given: DaemonOptions & { json?: boolean }) => {
      const { listAgents } = await import("./commands/agents.ts");
      exit(listAgents(given, terminal));
    });
  withDaemonOptions(agents.command("tasks"))
    .description("lists the tasks of agents that work by themselves, newest first")
    .option("--agent <name>", "only tasks of this agent")
    .addOption(new Option("--state <state>", "only tasks in this state").choices(agentTaskStates))
    .option("--json", "as JSON")
    .addHelpText("after", examples("labwright agents tasks --agent monitor --json"))
    .action(async (given: DaemonOptions & TasksGiven) => {
      const { listTasks } = await import("./commands/agents.ts");
      exit(await listTasks(given, terminal));
    });
  program
    .command("agent", { hidden: true })
    .allowUnknownOption()
    .allowExcessArguments()
    .action(() => {
      terminal.err(
        "`labwright agent` was removed: the agents are part of the server, on its port and with its token.\nStart it with `labwright serve`, and enable those that work by themselves in labwright.yaml: agents.agents.monitor.enabled, agents.agents.analyzer.enabled.\n",
      );
      exit(exitCodes.error);
    });
}

type TasksGiven = { agent?: string; state?: string; json?: boolean };

function addDaemonCommands(program: Command, terminal: Terminal, exit: (code: ExitCode) => void): void {
  withDaemonOptions(program.command("status"))
    .description("says whether a daemon runs, and whether it is healthy")
    .option("--json", "as JSON")
    .addHelpText("after", examples("labwright status", "labwright status --json"))
    .action(async (given: DaemonOptions & { json?: boolean }) => {
      exit(await runStatus(given, terminal));
    });
  withDaemonOptions(program.command("stop"))
    .description("ends the daemon and cancels what it runs")
    .option("--if-idle", "only when nothing runs")
    .addHelpText("after", examples("labwright stop", "labwright stop --if-idle"))
    .action(async (given: DaemonOptions & { ifIdle?: boolean }) => {
      exit(await runStop(given, terminal));
    });
  withDaemonOptions(program.command("logs"))
    .description("shows the end of the daemon's log, one JSON object a line")
    .option("-n, --lines <count>", "how many lines", readCount, 100)
    .option("-f, --follow", "shows new lines until Ctrl-C")
    .addHelpText("after", examples("labwright logs -n 20", "labwright logs --follow"))
    .action(async (given: DaemonOptions & { lines: number; follow?: boolean }) => {
      exit(await runLogs(given, terminal));
    });
  withDaemonOptions(program.command("call"))
    .description("calls one tool and prints its result as JSON")
    .argument("<tool>", "its name, such as list_hosts")
    .option("--json <arguments>", "the tool's arguments, one JSON object")
    .option("--device <id>", "the device, in place of device_id in the arguments")
    .addHelpText(
      "after",
      examples(
        "labwright call list_hosts",
        `labwright call dump_ui_elements --device browser --json '{"find": "login"}'`,
      ),
    )
    .action(async (tool: string, given: DaemonOptions & { json?: string; device?: string }) => {
      exit(await runCall(tool, given, terminal));
    });
}

function addSetUpCommands(program: Command, terminal: Terminal, exit: (code: ExitCode) => void): void {
  withDaemonOptions(program.command("doctor"))
    .description("says what is installed, what is missing, and how to fix it")
    .option("--json", "as JSON")
    .addHelpText("after", examples("labwright doctor", "labwright doctor --config labwright.yaml"))
    .action(async (given: DaemonOptions & { json?: boolean }) => {
      const { runDoctor } = await import("./doctor/doctor.ts");
      exit(await runDoctor(given, terminal));
    });
  program
    .command("setup")
    .description("installs what is missing: packages, build, a browser; for tests also PostgreSQL's programs")
    .argument("[parts...]", "installs only the add-ons of these parts")
    .addOption(new Option("--for <purpose>", "what to set up").choices(["demo", "test"]).default("demo"))
    .option("--server", "with android: also an Appium server for its devices")
    .option("--data-dir <dir>", "where add-ons are installed (LABWRIGHT_DATA_DIR)")
    .addHelpText("after", examples("labwright setup", "labwright setup android --server"))
    .action(async (named: string[], given: { for: string; server?: boolean; dataDir?: string }) => {
      const parts = given.server ? [...named, "appium-server"] : named;
      const { runSetup, runSetupOfParts } = await import("./commands/setup.ts");
      if (parts.length === 0) return exit(await runSetup(given, terminal));
      exit(await runSetupOfParts({ parts, dataDir: given.dataDir }, terminal));
    });
}

function addSkillsCommand(program: Command, terminal: Terminal, exit: (code: ExitCode) => void): void {
  const skills = program
    .command("skills")
    .description("the skills of this build and your own")
    .addHelpText("after", examples("labwright skills list", "labwright skills export .claude/skills"));
  withDaemonOptions(skills.command("list"))
    .description("lists them, and says what is wrong with your own files")
    .option("--json", "as JSON")
    .addHelpText("after", examples("labwright skills list", "labwright skills list --json"))
    .action(async (given: DaemonOptions & { json?: boolean }) => {
      const { listSkills } = await import("./commands/skills.ts");
      exit(listSkills(given, terminal));
    });
  withDaemonOptions(skills.command("why"))
    .description("says which skill a request loads, or why none and which come nearest")
    .argument("<request>", "what would be said to the assistant")
    .addHelpText("after", examples('labwright skills why "check the lab"'))
    .action(async (request: string, given: DaemonOptions) => {
      const { whySkill } = await import("./commands/skills.ts");
      exit(whySkill({ ...given, request }, terminal));
    });
  withDaemonOptions(skills.command("export"))
    .description("writes each skill as <folder>/<name>/SKILL.md, for programs that read Agent Skills")
    .argument("<folder>", "the folder to write into")
    .argument("[names...]", "only these skills")
    .addHelpText(
      "after",
      examples("labwright skills export .claude/skills", "labwright skills export out run-testcase"),
    )
    .action(async (folder: string, names: string[], given: DaemonOptions) => {
      const { exportAll } = await import("./commands/skills.ts");
      exit(exportAll({ ...given, folder, names }, terminal));
    });
  addOwnSkillsCommands(skills, terminal, exit);
  addSkillStatsCommand(skills, terminal, exit);
}

function addOwnSkillsCommands(skills: Command, terminal: Terminal, exit: (code: ExitCode) => void): void {
  withDaemonOptions(skills.command("new"))
    .description("writes a skill of your own that loads, to be edited")
    .argument("<name>", "lowercase words joined by hyphens")
    .option("--into <folder>", "the folder of skills, in place of yours (LABWRIGHT_SKILLS_DIR)")
    .option("--tree", "a skill that investigates by a decision tree, with a test case")
    .addHelpText(
      "after",
      examples("labwright skills new check-lamps", "labwright skills new find-lost-orders --tree"),
    )
    .action(async (name: string, given: DaemonOptions & { into?: string; tree?: boolean }) => {
      const { newSkill } = await import("./commands/ownSkills.ts");
      exit(await newSkill({ ...given, name }, terminal));
    });
  withDaemonOptions(skills.command("test"))
    .description(
      "tries which skill the triggers and examples of your skills choose, and the test cases of decision trees",
    )
    .argument("[names...]", "only these skills")
    .addHelpText("after", examples("labwright skills test", "labwright skills test check-lamps"))
    .action(async (names: string[], given: DaemonOptions) => {
      const { testSkills } = await import("./commands/ownSkills.ts");
      exit(await testSkills({ ...given, names }, terminal));
    });
}

function addTrustCommand(program: Command, terminal: Terminal, exit: (code: ExitCode) => void): void {
  program
    .command("trust")
    .description("lets the labwright.yaml of a folder set everything, until it changes what needs trust")
    .argument("[folder]", "the working directory when left out")
    .option("--list", "lists the trusted folders")
    .option("--remove", "trusts the folder no longer")
    .option("--data-dir <dir>", "the folder of the server's data (LABWRIGHT_DATA_DIR)")
    .addHelpText("after", examples("labwright trust", "labwright trust shop", "labwright trust --list"))
    .action(async (folder: string | undefined, given: Omit<TrustOptions, "folder">) => {
      const { runTrust } = await import("./commands/trust.ts");
      exit(runTrust({ ...given, folder }, terminal));
    });
}

type InstallGiven = Omit<InstallOptions, "host" | "skills"> & { skills?: string | true };

function addInstallCommand(program: Command, terminal: Terminal, exit: (code: ExitCode) => void): void {
  program
    .command("install")
    .description("adds Labwright to an MCP host; without a host, lists those of this machine")
    .argument(
      "[host]",
      "claude-desktop, claude-code, cursor, vscode, windsurf, zed, gemini-cli, codex-cli, goose, or json for any other",
    )
    .option("--project", "writes the host's file of this project, not the user's")
    .option("--dry-run", "shows what would change")
    .option("--print", "prints what goes into the host's file, and writes nothing")
    .option("--remove", "removes Labwright from the host")
    .option("--name <name>", "the server's name in the host", "labwright")
    .option(
      "--skills [names]",
      "offers only the tools of these skills, with commas between; without names, writes a SKILL.md for a coding agent that uses the shell",
    )
    .option("--config <file>", "labwright.yaml that the host's bridge uses")
    .option("--data-dir <dir>", "data directory that the host's bridge uses")
    .addHelpText(
      "after",
      examples(
        "labwright install",
        "labwright install cursor --dry-run",
        "labwright install claude-code --project",
        "labwright install json",
        "labwright install claude-code --skills",
      ),
    )
    .action(async (host: string | undefined, { skills, ...given }: InstallGiven) => {
      const { installSkillHere, runInstall } = await import("./commands/install.ts");
      if (skills === true) return exit(installSkillHere({ ...given, host }, terminal));
      exit(await runInstall({ ...given, skills, host }, terminal));
    });
}
