/** The command line of a process: tells whether a process id has passed to another program. */
import { readFileSync } from 'node:fs';
import { runCommand } from './run-command.ts';

/** The arguments with one space between them; empty when no program runs there; undefined where that cannot be found out. */
export async function readProcessCommand(pid: number): Promise<string | undefined> {
  if (process.platform === 'win32') return undefined;
  if (process.platform !== 'linux') {
    const { code, output } = await runCommand('ps', ['-ww', '-o', 'command=', '-p', String(pid)]);
    return code === null ? undefined : output.trim();
  }
  try {
    // Empty for a process that has ended and that its parent has not asked for yet.
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ESRCH' ? '' : undefined;
  }
}
