/** The processes below one, as the kernel shows them: which there are, and what each shows of itself. Linux alone. */
import { readdirSync, readFileSync } from 'node:fs';

/** With the process itself; those that have ended are not among them. */
export function processTree(root: number): number[] {
  const children = entries(`/proc/${root}/task`).flatMap((thread) =>
    read(`/proc/${root}/task/${thread}/children`).split(' ').filter(Boolean).map(Number),
  );
  return isAlive(root) ? [root, ...children.flatMap(processTree)] : [];
}

/** A process that has ended and that nobody has asked for yet is still listed. */
export function isAlive(pid: number): boolean {
  return /^State:\s+[^Z\s]/m.test(read(`/proc/${pid}/status`));
}

export function commandLine(pid: number): string {
  return read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ');
}

/** As it was when the process began, or as the process has left it. */
export function startEnvironment(pid: number): string {
  return read(`/proc/${pid}/environ`);
}

/** The worker process below a command. */
export function workerBelow(command: number): number | undefined {
  return processTree(command).find((pid) => commandLine(pid).includes('worker-program'));
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
