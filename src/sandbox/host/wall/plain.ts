/**
 * No kernel wall. On Linux, still: limits on the process, an environment with only the time zone, and an end with the
 * parent, if the tools are installed. Isolation relies on Node's permission model.
 */
import { withinLimits } from './limits-command.ts';
import { findTool } from './tools.ts';
import type { EnclosedCommand, Enclosure } from './wall.ts';

export function encloseByNothing({ command }: EnclosedCommand): Enclosure {
  const [program, ...args] = command;
  if (process.platform !== 'linux') return { command: [program as string, ...args] };
  const setpriv = findTool('setpriv');
  const bound = setpriv === undefined ? [] : [setpriv, '--pdeathsig', 'KILL', '--no-new-privs', '--'];
  const env = findTool('env');
  // Removes the variables that the shell adds.
  const bare = env === undefined ? [] : [env, '-i', 'TZ=UTC'];
  return { command: withinLimits([...bound, ...bare, ...command]) };
}
