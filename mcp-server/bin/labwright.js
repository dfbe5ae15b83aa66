#!/usr/bin/env node
// Committed, since npm links a bin only when its target exists at install; what it starts is built into dist/.
import { existsSync } from "node:fs";

const [command, ...args] = process.argv.slice(2);
const dist = new URL("../dist/", import.meta.url);

if (!existsSync(new URL("cli.js", dist))) {
  process.stderr.write("Labwright is not built here yet. Run: npm run build\n");
  process.exitCode = 2;
} else if (command === "mcp") {
  const { runMcp } = await import(new URL("bridge.js", dist).href);
  runMcp(args, process.env);
} else if (command === "serve") {
  await import(new URL("daemon.js", dist).href);
} else if (["chat", "ask", "qa"].includes(command)) {
  const { runAgentCli } = await import(new URL("agent.js", dist).href);
  await runAgentCli(process.argv.slice(2), process.env);
} else {
  const { runCli } = await import(new URL("cli.js", dist).href);
  await runCli(process.argv.slice(2), process.env);
}
