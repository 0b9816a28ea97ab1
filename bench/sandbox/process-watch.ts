/** Reads from /proc what a process and its descendants use: resident set, its peak, processor time. Only on Linux. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

const KIB = 1024;

export interface Usage {
  /** The largest growth of a single process, in bytes. */
  readonly peakBytes: number;
  /** The growth of the root process alone, in bytes. */
  readonly rootPeakBytes: number;
  /** Share of one core since the last sample. */
  readonly busy: number;
}

export interface Watch {
  /** Starts counting growth, only of the present processes: later ones run nothing hostile. */
  begin(): void;
  sample(): Usage;
}

export function watchProcess(root: number): Watch {
  let bases = new Map<number, number>();
  let peaks = new Map<number, number>();
  let times = new Map<string, number>();
  let at = performance.now();
  const begin = () => {
    for (const pid of family(root)) resetPeak(pid);
    bases = new Map(family(root).map((pid) => [pid, readKib(pid, 'VmRSS') ?? 0]));
    peaks = new Map();
  };
  const spent = () => {
    const now = new Map<string, number>();
    let nanoseconds = 0;
    for (const pid of bases.keys()) {
      for (const [thread, value] of readTimes(pid)) {
        now.set(thread, value);
        nanoseconds += value - (times.get(thread) ?? value);
      }
    }
    times = now;
    return nanoseconds;
  };
  begin();
  return {
    begin,
    sample() {
      for (const [pid, base] of bases) {
        const grown = (readKib(pid, 'VmHWM') ?? 0) - base;
        peaks.set(pid, Math.max(peaks.get(pid) ?? 0, grown));
      }
      const since = at;
      at = performance.now();
      return {
        peakBytes: Math.max(0, ...peaks.values()) * KIB,
        rootPeakBytes: (peaks.get(root) ?? 0) * KIB,
        busy: spent() / ((at - since) * 1e6),
      };
    },
  };
}

/** Returns the ids of the process and its descendants. */
function family(root: number): number[] {
  const parents = new Map<number, number>();
  for (const entry of readdirSync('/proc')) {
    const stat = /^\d+$/.test(entry) ? read(`/proc/${entry}/stat`) : undefined;
    if (stat) parents.set(Number(entry), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
  }
  const found = [root];
  for (const pid of found) {
    for (const [child, parent] of parents) if (parent === pid) found.push(child);
  }
  return found;
}

function readKib(pid: number, field: 'VmRSS' | 'VmHWM'): number | undefined {
  const [, kib] = new RegExp(`${field}:\\s+(\\d+)`).exec(read(`/proc/${pid}/status`) ?? '') ?? [];
  return kib === undefined ? undefined : Number(kib);
}

function readTimes(pid: number): [string, number][] {
  try {
    return readdirSync(`/proc/${pid}/task`).map((id) => {
      return [id, Number(read(`/proc/${pid}/task/${id}/schedstat`)?.split(' ')[0] ?? 0)];
    });
  } catch {
    return [];
  }
}

function resetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // The process has ended, or the kernel lacks it: then the peak may be from before.
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
