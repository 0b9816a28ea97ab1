/** Reads processes from /proc: the descendants of a process, and details of each. Linux only. */
import { readdirSync, readFileSync } from 'node:fs';

/** Child processes in the order of their start, including zombies. */
export function childProcesses(parent: number): number[] {
  return entries(`/proc/${parent}/task`).flatMap((thread) =>
    readProcess(parent, `task/${thread}/children`).split(' ').filter(Boolean).map(Number),
  );
}

/** Live processes of a tree, its root included; zombies are not. */
export function processTree(root: number): number[] {
  return isAlive(root) ? [root, ...childProcesses(root).flatMap(processTree)] : [];
}

/** False for a zombie too, although the kernel still lists it. */
export function isAlive(pid: number): boolean {
  return /^State:\s+[^XZ\s]/m.test(readProcess(pid, 'status'));
}

/** True if the process is gone, or none of its threads is running or ready to run. */
export function isAtRest(pid: number): boolean {
  return (
    !isAlive(pid) ||
    entries(`/proc/${pid}/task`).every((thread) => !readProcess(pid, `task/${thread}/stat`).includes(') R '))
  );
}

/** Milliseconds of processor time that a process has used; undefined when it is gone. */
export function cpuMs(pid: number): number | undefined {
  const stat = readProcess(pid, 'stat');
  // The second field is the program's name in brackets, and may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // User and system time, in the kernel's hundredths of a second.
  return stat ? (Number(fields[11]) + Number(fields[12])) * 10 : undefined;
}

export function commandLine(pid: number): string {
  return readProcess(pid, 'cmdline').replaceAll('\0', ' ');
}

/** The environment with which the process was started, unless the process has overwritten it. */
export function startEnvironment(pid: number): string {
  return readProcess(pid, 'environ');
}

/** Finds the worker process of a command. */
export function workerBelow(command: number): number | undefined {
  return processTree(command).find((pid) => commandLine(pid).includes('worker-program'));
}

/** Reads a file of the process in `/proc`; empty if the process is gone. */
export function readProcess(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
