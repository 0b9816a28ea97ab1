/** Finds the sandbox's processes below a process from outside, in /proc, as an operator would. Linux only. */
import { basename } from 'node:path';
import { childProcesses, readProcess } from './process-tree.ts';

const KIB = 1024;
const SAMPLE_MS = 5;

/**
 * Returns the children that run Node, behind any wall, oldest first. A child that is starting is first a shell, which
 * sets its limits, then the wall's program: it is not returned yet. Every child that has run a program is.
 */
export function sandboxChildren(parent: number = process.pid): number[] {
  return sandboxProcesses(parent)
    .map(innermost)
    .filter((pid) => basename(program(pid)) === basename(process.execPath));
}

/** Returns all processes spawned for children, including those that are starting or ending. */
export function sandboxProcesses(parent: number = process.pid): number[] {
  return childProcesses(parent).filter((pid) => readProcess(pid, 'cmdline').includes('/sandbox/child/main'));
}

function innermost(pid: number): number {
  const [next] = childProcesses(pid);
  return next === undefined ? pid : innermost(next);
}

const program = (pid: number) => readProcess(pid, 'cmdline').split('\0')[0] ?? '';

/** Samples the children's peak memory until `stop`, which returns the maximum in MB. */
export function watchPeak(): { stop(): number } {
  let peak = 0;
  let pids: readonly number[] = [];
  let samples = 0;
  const sample = () => {
    // New children are searched for every eighth time only: that costs more than the sampling.
    if (samples % 8 === 0) pids = sandboxChildren();
    samples += 1;
    for (const pid of pids) {
      const status = readProcess(pid, 'status');
      peak = Math.max(peak, kib(status, 'VmHWM'), kib(status, 'VmRSS'));
    }
  };
  sample();
  const timer = setInterval(sample, SAMPLE_MS);
  return {
    stop() {
      clearInterval(timer);
      sample();
      return Math.round(peak / KIB);
    },
  };
}

function kib(status: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0);
}
