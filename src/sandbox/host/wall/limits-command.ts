/**
 * Resource limits of the kernel (`ulimit`), set by a shell that then executes the next program: a bounded data segment,
 * no core file, no writes to files, few descriptors. Whatever is started later inherits them.
 */
import { SANDBOX_LIMITS } from '../../limits.ts';

const KIB = 1024;
/**
 * Node reserves 560 MiB that it does not use, and each isolate 650. There may be three isolates: one running, one
 * created ahead, and one being disposed.
 */
const DATA_KIB = Math.floor((2_560 * KIB * KIB + SANDBOX_LIMITS.memoryCeiling + 128 * KIB * KIB) / KIB);
const DESCRIPTORS = 128;

/** A limit that cannot be set is already lower. */
const BOUNDS = [`-d ${DATA_KIB}`, '-c 0', '-f 0', `-n ${DESCRIPTORS}`];
const SCRIPT = `${BOUNDS.map((bound) => `ulimit ${bound} 2>/dev/null`).join('; ')}; exec "$@"`;

export function withinLimits(command: readonly string[]): [program: string, ...args: string[]] {
  return ['/bin/sh', '-c', SCRIPT, 'sh', ...command];
}
