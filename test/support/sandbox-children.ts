/** The sandbox's processes below one, found from outside, as an operator would: in /proc. Linux alone. */
import { basename } from 'node:path';
import { childProcesses, readProcess } from './process-tree.ts';

const KIB = 1024;
const SAMPLE_MS = 5;

/**
 * The children that are Node, behind whichever wall; the oldest comes first. A child that is being started is a shell first, which
 * sets its limits, and then the program of its wall: it is not among them yet. Whatever has run a program is.
 */
export function sandboxChildren(parent: number = process.pid): number[] {
  return sandboxProcesses(parent)
    .map(innermost)
    .filter((pid) => basename(program(pid)) === basename(process.execPath));
}

/** Whatever was started for a child, as it was spawned: what is being started and what is ending are among them. */
export function sandboxProcesses(parent: number = process.pid): number[] {
  return childProcesses(parent).filter((pid) => readProcess(pid, 'cmdline').includes('/sandbox/child/main'));
}

function innermost(pid: number): number {
  const [next] = childProcesses(pid);
  return next === undefined ? pid : innermost(next);
}

const program = (pid: number) => readProcess(pid, 'cmdline').split('\0')[0] ?? '';

/** Samples the children's high-water marks until `stop`, which answers the highest of them in MB. */
export function watchPeak(): { stop(): number } {
  let peak = 0;
  let pids: readonly number[] = [];
  let samples = 0;
  const sample = () => {
    // New children are looked for now and then: that costs more than all else here.
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
