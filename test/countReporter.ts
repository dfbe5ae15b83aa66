import { readFileSync } from "node:fs";
import { relative } from "node:path";
import type { Reporter, TestModule } from "vitest/node";
import { z } from "zod";

const unavailable = z
  .array(z.strictObject({ what: z.string(), needs: z.string(), reason: z.string() }))
  .parse(JSON.parse(readFileSync(new URL("unavailable.json", import.meta.url), "utf8")));

const mostSlow = 10;

/** Ends each run with its slowest files, what no run here can test and a line that counts the tests. */
export class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const flaky = tests.filter((test) => test.diagnostic()?.flaky).map(({ fullName }) => fullName);
    const states = tests.map((test) => test.result().state);
    const count = (state: string) => states.filter((one) => one === state).length;
    const broken = modules.filter(
      (module) => module.state() === "failed" && module.errors().length > 0,
    ).length;
    const names = unavailable.map(({ what }) => what).join(", ");
    for (const name of flaky) process.stdout.write(`\nPassed only when tried again: ${name}`);
    process.stdout.write(`\n${slowest(modules)}`);
    process.stdout.write(
      `\nNot to be had here: ${unavailable.length} (${names}); reasons in test/unavailable.json\n` +
        `${count("passed")} passed, ${count("failed") + broken} failed, ${count("skipped")} skipped\n`,
    );
  }
}

/** The files that took longest, one a line, with the seconds of loading them and of running their tests. */
function slowest(modules: readonly TestModule[]): string {
  return modules
    .map((module) => {
      const { collectDuration, setupDuration, duration } = module.diagnostic();
      return {
        file: relative(process.cwd(), module.moduleId),
        ms: collectDuration + setupDuration + duration,
      };
    })
    .sort((a, b) => b.ms - a.ms)
    .slice(0, mostSlow)
    .map(({ file, ms }, index) => `Slowest ${index + 1}: ${(ms / 1_000).toFixed(1)} s ${file}`)
    .join("\n");
}
