import { expect, it } from "vitest";
import { seccompFilter } from "#controllers/programs/seccomp.ts";

/** Instructions that jump by what was loaded before, by their code. */
const jumps: Readonly<Record<number, (loaded: number, value: number) => boolean>> = {
  21: (loaded, value) => loaded === value,
  53: (loaded, value) => loaded >= value,
  69: (loaded, value) => (loaded & value) !== 0,
};

const actionOf = (value: number) => (value === 0x7fff0000 ? "allowed" : `errno ${value & 0xffff}`);

type Call = { arch: number; number: number; argument?: number };

/** What the filter answers, as the kernel runs it: one instruction of 8 bytes after another. */
function answer(machine: string, { arch, number, argument = 0 }: Call): string {
  const bytes = seccompFilter(machine) ?? Buffer.alloc(0);
  const data = new Map([
    [0, number],
    [4, arch],
    [16, argument],
  ]);
  let loaded = Number.NaN;
  for (let at = 0; at < bytes.length; at += 8) {
    const code = bytes.readUInt16LE(at);
    const value = bytes.readUInt32LE(at + 4);
    if (code === 0x06) return actionOf(value);
    if (code === 0x20) loaded = Number(data.get(value));
    else at += 8 * bytes.readUInt8(at + (jumps[code]?.(loaded, value) ? 2 : 3));
  }
  return "ran past its end";
}

const [x64, arm64] = [0xc000003e, 0xc00000b7];

it.each([
  ["x64", x64, { read: 0, clone: 56, socket: 41, socketpair: 53, unshare: 272 }],
  ["arm64", arm64, { read: 63, clone: 220, socket: 198, socketpair: 199, unshare: 97 }],
] as const)("judges calls of %s by number and first argument", (machine, arch, numbers) => {
  const judged = (number: number, argument?: number) =>
    answer(machine, { arch, number, ...(argument !== undefined && { argument }) });
  expect(judged(numbers.read)).toBe("allowed");
  expect(judged(numbers.unshare)).toBe("errno 1");
  expect(judged(435)).toBe("errno 38");
  // What the C library passes for a thread, and the same with CLONE_NEWUSER.
  expect(judged(numbers.clone, 0x003d0f00)).toBe("allowed");
  expect(judged(numbers.clone, 0x103d0f00)).toBe("errno 1");
  for (const family of [1, 2, 10, 16]) expect(judged(numbers.socket, family)).toBe("allowed");
  for (const family of [17, 38, 40]) {
    expect(judged(numbers.socket, family)).toBe("errno 97");
    expect(judged(numbers.socketpair, family)).toBe("errno 97");
  }
  // A program of another machine's calls, such as 32-bit x86, has other numbers.
  expect(answer(machine, { arch: 0x40000003, number: numbers.read })).toBe("errno 1");
});

it("refuses the x32 calls of x86-64, and has no filter for a machine that it does not know", () => {
  expect(answer("x64", { arch: x64, number: 0x40000000 })).toBe("errno 1");
  expect(seccompFilter("riscv64")).toBeUndefined();
});
