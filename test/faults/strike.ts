import { writeFileSync } from "node:fs";
import type { Fault } from "./plan.ts";
import { belowOf, type Process } from "./processes.ts";
import { type Bridge, endProcess, type Host, type World } from "./world.ts";

const isBrowser = ({ command }: Process) => command.includes("--remote-debugging-pipe");
const isAgent = ({ command }: Process) => command.includes(" ask ");
const isScript = ({ command }: Process) => command.includes("sleeper.py") && !command.includes("flock");

/** Does one fault. Returns whether it found what to strike. */
export async function strike(
  fault: Fault,
  world: World,
  bridges: ReadonlyMap<string, Bridge>,
): Promise<boolean> {
  const host = world.hosts[fault.host];
  if (host === undefined) return false;
  switch (fault.kind) {
    case "postgres":
      await world.postgres.crash();
      await world.postgres.restart();
      return true;
    case "bridge": {
      const [bridge] = host.browsers.flatMap((browser) => bridges.get(`${host.name}/${browser}`) ?? []);
      return bridge !== undefined && bridge.pid > 0 && endProcess(bridge.pid);
    }
    case "agent":
      return killFirst(world.processes().filter(isAgent));
    case "daemon":
      return killFirst(daemonOf(host, world.processes()));
    case "clock":
      return jump(host, world.processes(), fault.jumpMs);
    default: {
      const all = world.processes();
      const [daemon] = daemonOf(host, all);
      const below = daemon ? belowOf(all, daemon.pid) : [];
      return killFirst(below.filter(fault.kind === "browser" ? isBrowser : isScript));
    }
  }
}

/** The file may name a daemon that died, whose number another process has by now. */
const daemonOf = (host: Host, all: readonly Process[]) =>
  all.filter(({ pid, command }) => pid === host.daemonPid() && command.includes("daemon.js"));

function killFirst([first]: readonly Process[]): boolean {
  return first !== undefined && endProcess(first.pid);
}

function jump(host: Host, all: readonly Process[], ms: number): boolean {
  const [daemon] = daemonOf(host, all);
  if (daemon === undefined) return false;
  writeFileSync(host.clockFile, String(ms));
  process.kill(daemon.pid, "SIGUSR2");
  return true;
}
