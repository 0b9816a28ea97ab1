/**
 * The system call filter of sandbox children: a classic BPF program for the kernel, in the format of `bwrap --seccomp`.
 * System calls of another architecture kill the process; the calls of the table below fail with EPERM; no process can
 * be started, because `clone` may only create threads.
 */

const MACHINES = {
  x64: { column: 0, audit: 0xc000003e },
  arm64: { column: 1, audit: 0xc00000b7 },
} as const;

// Offsets in the kernel's `struct seccomp_data`, little endian.
const CALL = 0;
const MACHINE = 4;
const FIRST_ARGUMENT = 16;

const LOAD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const JUMP_BITS = 0x45;
const RETURN = 0x06;

const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const fail = (errno: number) => 0x00050000 + errno;
const EPERM = 1;
const ENOSYS = 38;

const CLONE_THREAD = 0x00010000;
/** Numbers of calls of the x32 interface start here. */
const X32 = 0x40000000;

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

/** Returns undefined if the numbers of the calls are not known for the architecture. */
export function seccompFilter(arch: string = process.arch): Buffer | undefined {
  if (arch !== 'x64' && arch !== 'arm64') return undefined;
  const { column, audit } = MACHINES[arch];
  const program: Instruction[] = [
    [LOAD, 0, 0, MACHINE],
    [JUMP_EQUAL, 1, 0, audit],
    [RETURN, 0, 0, KILL],
    [LOAD, 0, 0, CALL],
    ...(arch === 'x64' ? refuse(JUMP_AT_LEAST, X32, KILL) : []),
    ...refuse(JUMP_EQUAL, CLONE3[column], fail(ENOSYS)),
    [JUMP_EQUAL, 0, 4, CLONE[column]],
    [LOAD, 0, 0, FIRST_ARGUMENT],
    [JUMP_BITS, 1, 0, CLONE_THREAD],
    [RETURN, 0, 0, fail(EPERM)],
    [RETURN, 0, 0, ALLOW],
    ...Object.values(REFUSED_CALLS).flatMap((numbers) => {
      const number = numbers[column];
      return number === undefined ? [] : refuse(JUMP_EQUAL, number, fail(EPERM));
    }),
    [RETURN, 0, 0, ALLOW],
  ];
  return encode(program);
}

function refuse(jump: number, value: number, verdict: number): Instruction[] {
  return [
    [jump, 0, 1, value],
    [RETURN, 0, 0, verdict],
  ];
}

/** Encodes `struct sock_filter`: 2 bytes of code, 1 byte for each of the two jumps, 4 bytes of value. */
function encode(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(([code, ifTrue, ifFalse, value], index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value, index * 8 + 4);
  });
  return bytes;
}

/**
 * A table of the system calls that a sandbox child does not need after its start, with their numbers on x86-64 and
 * arm64. They are refused; all others are left to the other parts of the wall. A list of allowed calls would be
 * stronger, but would break children with the next C library that uses a new call. Numbers of each call; undefined if
 * the architecture does not have it.
 */
export const REFUSED_CALLS: Readonly<Record<string, readonly [x64: number, arm64: number | undefined]>> = {
  // Sockets: the channel is open already.
  socket: [41, 198],
  socketpair: [53, 199],
  bind: [49, 200],
  connect: [42, 203],
  listen: [50, 201],
  accept: [43, 202],
  accept4: [288, 242],
  // Processes: none is started after the child's own.
  fork: [57, undefined],
  vfork: [58, undefined],
  execveat: [322, 281],
  // Other processes.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  process_madvise: [440, 440],
  process_mrelease: [448, 448],
  pidfd_open: [434, 434],
  pidfd_getfd: [438, 438],
  pidfd_send_signal: [424, 424],
  kcmp: [312, 272],
  // Namespaces, mounts and roots.
  unshare: [272, 97],
  setns: [308, 268],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  move_mount: [429, 429],
  open_tree: [428, 428],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  open_by_handle_at: [304, 265],
  name_to_handle_at: [303, 264],
  // Interfaces with a large attack surface in the kernel.
  bpf: [321, 280],
  perf_event_open: [298, 241],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  userfaultfd: [323, 282],
  fanotify_init: [300, 262],
  // Anonymous files in memory.
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
  // Keys of the kernel.
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  // Shared memory, semaphores and message queues.
  shmget: [29, 194],
  shmat: [30, 196],
  shmctl: [31, 195],
  semget: [64, 190],
  semop: [65, 193],
  semctl: [66, 191],
  semtimedop: [220, 192],
  msgget: [68, 186],
  msgsnd: [69, 189],
  msgrcv: [70, 188],
  msgctl: [71, 187],
  mq_open: [240, 180],
  mq_unlink: [241, 181],
  // Settings of the whole machine.
  clock_settime: [227, 112],
  settimeofday: [164, 170],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  personality: [135, 92],
  quotactl: [179, 60],
  acct: [163, 89],
  syslog: [103, 116],
  vhangup: [153, 58],
  swapon: [167, 224],
  swapoff: [168, 225],
  reboot: [169, 142],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  iopl: [172, undefined],
  ioperm: [173, undefined],
  modify_ldt: [154, undefined],
};

/** `clone`: may only start threads. */
export const CLONE = [56, 220] as const;
/** `clone3`: its flags are in memory, which a filter cannot read. It fails, and the C library uses `clone`. */
export const CLONE3 = [435, 435] as const;
