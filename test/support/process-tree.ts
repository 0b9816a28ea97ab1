/** Processes as the kernel shows them: which there are below one, and what each shows of itself. Linux alone. */
import { readdirSync, readFileSync } from 'node:fs';

/** In the order in which they were started; those that have ended and that nobody has asked for yet are among them. */
export function childProcesses(parent: number): number[] {
  return entries(`/proc/${parent}/task`).flatMap((thread) =>
    readProcess(parent, `task/${thread}/children`).split(' ').filter(Boolean).map(Number),
  );
}

/** With the process itself; those that have ended are not among them. */
export function processTree(root: number): number[] {
  return isAlive(root) ? [root, ...childProcesses(root).flatMap(processTree)] : [];
}

/** A process that has ended and that nobody has asked for yet is still listed. */
export function isAlive(pid: number): boolean {
  return /^State:\s+[^XZ\s]/m.test(readProcess(pid, 'status'));
}

/** Gone, or with no thread that wants a processor. */
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

/** As it was when the process began, or as the process has left it. */
export function startEnvironment(pid: number): string {
  return readProcess(pid, 'environ');
}

/** The worker process below a command. */
export function workerBelow(command: number): number | undefined {
  return processTree(command).find((pid) => commandLine(pid).includes('worker-program'));
}

/** A file of its folder in `/proc`; empty when the process is gone. */
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
