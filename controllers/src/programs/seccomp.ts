/**
 * System calls that no script, test or tool of ours needs, by their numbers on x86-64 and arm64 (Linux:
 * arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h). Calls that need a capability are not here:
 * a sandboxed program has none, and can make no namespace in which it would have some.
 */
const deniedCalls = {
  // Namespaces and mounts.
  unshare: [272, 97],
  setns: [308, 268],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  // Parts of the kernel that faults are found in again and again.
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  // Other processes' memory and files.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  process_madvise: [440, 440],
  pidfd_getfd: [438, 438],
  kcmp: [312, 272],
  // Memory that belongs to no process and no folder, and would not be counted.
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
  shmget: [29, 194],
  semget: [64, 190],
  msgget: [68, 186],
} as const satisfies Record<string, readonly [number, number]>;

/** `arch` is linux/audit.h's; the numbers are those of calls with answers of their own. */
const machines = {
  x64: { column: 0, arch: 0xc000_003e, clone: 56, clone3: 435, fallocate: 285, sockets: [41, 53] },
  arm64: { column: 1, arch: 0xc000_00b7, clone: 220, clone3: 435, fallocate: 47, sockets: [198, 199] },
} as const;

/** Numbers from here on are those of the x32 calls of x86-64. */
const x32 = 0x4000_0000;
/** All CLONE_NEW* of linux/sched.h that `clone` takes. */
const newNamespaces = 0x7e02_0000;
/** AF_UNIX, AF_INET, AF_INET6, and AF_NETLINK, by which programs list their network interfaces. Not AF_VSOCK, AF_ALG … */
const families = [1, 2, 10, 16];

const errnos = { EPERM: 1, ENOSYS: 38, EOPNOTSUPP: 95, EAFNOSUPPORT: 97 } as const;
const allowed = 0x7fff_0000;
/** Where linux/seccomp.h's `seccomp_data` has the number, the machine, and the low half of the first argument. */
const offsets = { number: 0, arch: 4, argument: 16 } as const;

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

const load = (offset: number): Instruction => [0x20, 0, 0, offset];
const isEqual = (value: number, ifTrue: number, ifFalse: number): Instruction => [
  0x15,
  ifTrue,
  ifFalse,
  value,
];
const isAtLeast = (value: number, ifTrue: number, ifFalse: number): Instruction => [
  0x35,
  ifTrue,
  ifFalse,
  value,
];
const hasAnyOf = (bits: number, ifTrue: number, ifFalse: number): Instruction => [
  0x45,
  ifTrue,
  ifFalse,
  bits,
];
const end = (action: number): Instruction => [0x06, 0, 0, action];
const refuse = (error: keyof typeof errnos) => end(0x0005_0000 | errnos[error]);
/** Jumps are counted in instructions that are left out. */
const refuseIf = (number: number, error: keyof typeof errnos = "EPERM") => [
  isEqual(number, 0, 1),
  refuse(error),
];

/**
 * A seccomp filter for bubblewrap's `--seccomp`: the bytes of a classic BPF program, 8 for each instruction. What it refuses
 * gets EPERM; `clone3` ENOSYS, so that C libraries take `clone`, whose flags a filter can see; `fallocate` EOPNOTSUPP, so that they write,
 * which is counted; sockets of other than the usual
 * families EAFNOSUPPORT. Undefined for machines other than x86-64 and arm64.
 */
export function seccompFilter(machine: string = process.arch): Buffer | undefined {
  if (machine !== "x64" && machine !== "arm64") return undefined;
  const { column, arch, clone, clone3, fallocate, sockets } = machines[machine];
  const [socket, socketpair] = sockets;
  const program: Instruction[] = [
    load(offsets.arch),
    isEqual(arch, 1, 0),
    refuse("EPERM"),
    load(offsets.number),
    ...(machine === "x64" ? [isAtLeast(x32, 0, 1), refuse("EPERM")] : []),
    ...Object.values(deniedCalls).flatMap((numbers) => refuseIf(numbers[column])),
    ...refuseIf(clone3, "ENOSYS"),
    ...refuseIf(fallocate, "EOPNOTSUPP"),
    isEqual(clone, 0, 4),
    load(offsets.argument),
    hasAnyOf(newNamespaces, 0, 1),
    refuse("EPERM"),
    end(allowed),
    isEqual(socket, 1, 0),
    isEqual(socketpair, 0, families.length + 2),
    load(offsets.argument),
    ...families.map((family, index) => isEqual(family, families.length - index, 0)),
    refuse("EAFNOSUPPORT"),
    end(allowed),
  ];
  return bytesOf(program);
}

function bytesOf(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, ifTrue, ifFalse, value]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value, index * 8 + 4);
  }
  return bytes;
}
