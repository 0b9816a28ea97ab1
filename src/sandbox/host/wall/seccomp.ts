/**
 * The system call filter of sandbox children: a classic BPF program for the kernel, in the format of `bwrap --seccomp`.
 * System calls of another architecture kill the process; the calls of `system-calls.ts` fail with EPERM; no process can
 * be started, because `clone` may only create threads.
 */
import { CLONE, CLONE3, REFUSED_CALLS } from './system-calls.ts';

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
