import type { CommandContext, System } from "../system.ts";
import { fail, print } from "./reply.ts";

/** Options of `am instrument` that have a value. */
const valued = new Set(["-e", "-p", "--user", "--abi"]);

/**
 * Runs an instrumentation until it is stopped: by force-stop of its package or of the one that it instruments, by a crash, or
 * because another one takes UiAutomation, which only one may have.
 */
export async function instrument(args: readonly string[], context: CommandContext): Promise<number> {
  const { system, signal } = context;
  const component = componentOf(args);
  const { instrumentationRefused } = system.parts.faults;
  const found = system.packages.instrumented().find((one) => one.component === component);
  const starting = found && !instrumentationRefused ? system.parts.instrument(component) : undefined;
  if (!found || !starting) return notFound(component, context);
  for (const end of [...system.automation.values()]) end();
  const running = await starting;
  const names = [component.split("/", 1)[0] ?? "", found.target];
  const isWaiting = args.includes("-w");
  const ended = new Promise<void>((resolve) => {
    for (const name of names) system.automation.set(name, resolve);
    // Only who waits for it ends it by leaving.
    if (isWaiting) signal.addEventListener("abort", () => resolve(), { once: true });
    if (isWaiting && signal.aborted) resolve();
    void running.ended.then(() => resolve());
  });
  const process = names.at(-1) ?? "";
  system.processes.startService(process);
  for (const [endpoint, port] of running.ports) system.endpoints.set(endpoint, port);
  const finished = ended.then(async () => {
    for (const name of names) system.automation.delete(name);
    for (const endpoint of running.ports.keys()) system.endpoints.delete(endpoint);
    system.processes.endService(process);
    await running.close();
  });
  if (!isWaiting) return 0;
  await finished;
  return print(context, "INSTRUMENTATION_RESULT: shortMsg=Process crashed.\nINSTRUMENTATION_CODE: 0\n");
}

function componentOf(args: readonly string[]): string {
  const left = [...args];
  let component = "";
  for (let arg = left.shift(); arg !== undefined; arg = left.shift()) {
    if (valued.has(arg)) left.splice(0, arg === "-e" ? 2 : 1);
    else if (!arg.startsWith("-")) component = arg;
  }
  return component;
}

async function notFound(component: string, context: CommandContext): Promise<number> {
  await context.out(
    `INSTRUMENTATION_STATUS: id=ActivityManagerService\nINSTRUMENTATION_STATUS: Error=Unable to find instrumentation info for: ComponentInfo{${component}}\nINSTRUMENTATION_STATUS_CODE: -1\n`,
  );
  return fail(context, `android.util.AndroidException: INSTRUMENTATION_FAILED: ${component}`);
}

export function crashAutomation({ automation }: System): void {
  for (const end of [...automation.values()]) end();
}
