import { access, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type RunningProgram, startProgram } from "#controllers/programs/run.ts";
import { poll } from "#controllers/waiting/deadlines.ts";

/** What the remote of the lab sends: 16 bits of NEC behind a prefix, by the name of the key. */
const infraredCodes = {
  KEY_OK: 0x22dd,
  KEY_UP: 0x02fd,
  KEY_DOWN: 0x827d,
  KEY_HOME: 0x3ec1,
  KEY_TELETEXT: 0x04fb,
} as const;
const prefix = 0x20df;
const startMs = 10_000;

export type LircLab = {
  socket: string;
  program: RunningProgram;
  /** Names of the keys in the pulses that it has sent, in order. A code of no key is in hexadecimal. */
  sent(): Promise<string[]>;
};

/** The real lircd with one remote, whose pulses go to a file in place of a diode. It ends with this process. */
export async function startLircd(
  folder: string,
  { remote, socket }: { remote: string; socket: string },
): Promise<LircLab> {
  const [conf, pulses] = [join(folder, `${remote}.conf`), join(folder, `${remote}.pulses`)];
  await writeFile(conf, lircdConf(remote));
  await writeFile(pulses, "");
  const options = ["--nodaemon", "--allow-simulate", "--driver=file", `--device=${pulses}`];
  const places = [`--output=${socket}`, `--pidfile=${join(folder, `${remote}.pid`)}`];
  const program = startProgram("/usr/sbin/lircd", [...options, ...places, conf]);
  program.child.stderr?.resume();
  program.child.stdout?.resume();
  const isThere = () =>
    access(socket).then(
      () => true,
      () => false,
    );
  const signal = new AbortController().signal;
  if (!(await poll(isThere, { everyMs: 20, ms: startMs, signal }))) throw new Error("lircd did not start");
  return { socket, program, sent: async () => codesIn(await readFile(pulses, "utf8")).map(keyOf) };
}

const hex = (code: number, digits: number) => code.toString(16).padStart(digits, "0");

/** What `irsend simulate` takes: as the remote of a box would receive the key. */
export function received(key: string, remote: string): string {
  const code = new Map<string, number>(Object.entries(infraredCodes)).get(key);
  if (code === undefined) throw new Error(`The remote of the lab has no ${key}.`);
  return `${hex(prefix, 12)}${hex(code, 4)} 00 ${key} ${remote}`;
}

const keyOf = (code: string): string =>
  Object.entries(infraredCodes).find(([, own]) => code === hex(prefix, 4) + hex(own, 4))?.[0] ?? code;

const lircdConf = (remote: string) => `begin remote
  name ${remote}
  bits 16
  flags SPACE_ENC|CONST_LENGTH
  eps 30
  aeps 100
  header 9000 4500
  one 560 1690
  zero 560 560
  ptrail 560
  pre_data_bits 16
  pre_data 0x${hex(prefix, 4)}
  gap 108000
  frequency 38000
  begin codes
${Object.entries(infraredCodes)
  .map(([key, code]) => `    ${key} 0x${hex(code, 4)}`)
  .join("\n")}
  end codes
end remote
`;

/** The codes in pulses as lircd writes them: 32 bits behind each header. */
function codesIn(pulses: string): string[] {
  const times = [...pulses.matchAll(/^(?:pulse|space) (\d+)/gm)].map(([, time]) => Number(time));
  return times.flatMap((time, at) => {
    if (time < 8_000 || time > 10_000 || Math.abs((times[at + 1] ?? 0) - 4_500) > 500) return [];
    const bits = Array.from({ length: 32 }, (_, bit) => ((times[at + 3 + bit * 2] ?? 0) > 1_000 ? "1" : "0"));
    return [hex(Number.parseInt(bits.join(""), 2), 8)];
  });
}
