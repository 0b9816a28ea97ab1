/** The sandbox children of this process, as the kernel shows them: which there are, how large they grew, what they do. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

const KIB = 1024;
const SAMPLE_MS = 5;

/** Pids of sandbox children that `parent` started and that are alive: of Node itself, behind whichever wall. */
export function childrenOf(parent: number = process.pid): number[] {
  return startedBy(parent)
    .filter((pid) => read(`/proc/${pid}/cmdline`).includes('sandbox/child/main'))
    .map(innermost);
}

function startedBy(parent: number): number[] {
  if (!existsSync(`/proc/${parent}/task`)) return [];
  return readdirSync(`/proc/${parent}/task`)
    .flatMap((thread) => read(`/proc/${parent}/task/${thread}/children`).split(' '))
    .filter(Boolean)
    .map(Number);
}

function innermost(pid: number): number {
  const [next] = startedBy(pid);
  return next === undefined ? pid : innermost(next);
}

export function isAlive(pid: number): boolean {
  const state = /^State:\s+(\w)/m.exec(read(`/proc/${pid}/status`))?.[1];
  return state !== undefined && state !== 'Z';
}

/** Milliseconds of processor time that a process has used; undefined when it is gone. */
export function cpuMs(pid: number): number | undefined {
  const fields = read(`/proc/${pid}/stat`).split(') ')[1]?.split(' ');
  // User and system time, in ticks of a hundredth of a second.
  return fields && (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Gone, or with no thread that wants a processor. */
export function isAtRest(pid: number): boolean {
  if (!isAlive(pid)) return true;
  try {
    return readdirSync(`/proc/${pid}/task`).every(
      (thread) => !read(`/proc/${pid}/task/${thread}/stat`).includes(') R '),
    );
  } catch {
    return true;
  }
}

/** Samples the children's high-water marks until `stop`, which answers the highest of them in MB. */
export function watchPeak(): { stop(): number } {
  let peak = 0;
  let pids: readonly number[] = [];
  let samples = 0;
  const sample = () => {
    // New children are looked for now and then: that costs more than all else here.
    if (samples % 8 === 0) pids = childrenOf();
    samples += 1;
    for (const pid of pids) {
      const status = read(`/proc/${pid}/status`);
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

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
