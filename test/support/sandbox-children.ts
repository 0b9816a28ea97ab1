/** Finds the sandbox's processes from outside, as an operator would: in /proc. Linux alone. */
import { readdirSync, readFileSync } from 'node:fs';

export interface SandboxProcess {
  readonly pid: number;
  /** Clock ticks that it has computed. */
  readonly ticks: number;
}

/** The sandbox children of a process, those that are ending included: of Node itself, behind whichever wall. */
export function sandboxChildren(parent: number): SandboxProcess[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const all = pids.flatMap((name) => {
    const stat = readStat(Number(name));
    return stat ? [{ pid: Number(name), parent: stat.parent, ticks: stat.ticks }] : [];
  });
  // A wall's program stands between, and has the same words on its command line.
  const innermost = (process: (typeof all)[number]): SandboxProcess => {
    const below = all.find((each) => each.parent === process.pid);
    return below ? innermost(below) : { pid: process.pid, ticks: process.ticks };
  };
  return all.filter((each) => each.parent === parent && isSandbox(String(each.pid))).map(innermost);
}

/** Whether it is there, and no zombie that waits to be asked for. */
export function isRunning(pid: number): boolean {
  const stat = readStat(pid);
  return stat !== undefined && stat.state !== 'Z' && stat.state !== 'X';
}

function readStat(pid: number): { state: string; parent: number; ticks: number } | undefined {
  const text = read(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  // The second field is the program's name in brackets, and may hold anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] as string, parent: Number(fields[1]), ticks: Number(fields[11]) };
}

/** Started by way of a shell, which becomes the sandbox, or by the program of its wall. */
function isSandbox(pid: string): boolean {
  return read(`/proc/${pid}/cmdline`)?.includes('/sandbox/child/main') ?? false;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
