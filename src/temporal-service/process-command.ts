/** The command line of a process: shows whether a process id was reused by another program. */
import { readFileSync } from 'node:fs';
import { runCommand } from './run-command.ts';

/** The arguments joined with spaces; empty if no such process runs; undefined if the system cannot report them. */
export async function readProcessCommand(pid: number): Promise<string | undefined> {
  if (process.platform === 'win32') return undefined;
  if (process.platform !== 'linux') {
    const { code, output } = await runCommand('ps', ['-ww', '-o', 'command=', '-p', String(pid)]);
    return code === null ? undefined : output.trim();
  }
  try {
    // Empty for a process that has ended and that its parent has not reaped.
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ESRCH' ? '' : undefined;
  }
}
