/**
 * No wall of the kernel's: bounds on the process, an environment with nothing but the time zone, the parent's death
 * where Linux can tell of it. What holds then is Node's permission model.
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
  // The shell adds variables of its own.
  const bare = env === undefined ? [] : [env, '-i', 'TZ=UTC'];
  return { command: withinLimits([...bound, ...bare, ...command]) };
}
