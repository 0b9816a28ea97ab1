/**
 * The wall of bubblewrap: separate namespaces for users, processes, files, network, IPC and host name, no capabilities,
 * a read-only root with only what the child reads and neither `/proc` nor `/dev`, an environment with only the time
 * zone, and the system call filter. The child ends with its parent.
 */
import { withinLimits } from './limits-command.ts';
import { findReadable } from './readable.ts';
import { seccompFilter } from './seccomp.ts';
import { findTool } from './tools.ts';
import { type EnclosedCommand, type Enclosure, FILTER_FD } from './wall.ts';

const NOBODY = '65534';

/** Returns undefined if bubblewrap is not installed. */
export function encloseByBubblewrap({ command, main }: EnclosedCommand): Enclosure | undefined {
  const bwrap = findTool('bwrap');
  if (bwrap === undefined) return undefined;
  const filter = seccompFilter();
  const { binds, links } = findReadable(main);
  const options = [
    ...['--unshare-user', '--uid', NOBODY, '--gid', NOBODY],
    ...['--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...['--die-with-parent', '--cap-drop', 'ALL'],
    ...['--clearenv', '--setenv', 'TZ', 'UTC'],
    ...binds.flatMap(({ source, target }) => ['--ro-bind', source, target]),
    ...links.flatMap(({ at, to }) => ['--symlink', to, at]),
    ...['--remount-ro', '/', '--chdir', '/'],
    ...(filter ? ['--seccomp', String(FILTER_FD)] : []),
  ];
  return {
    command: withinLimits([bwrap, ...options, '--', ...command]),
    ...(filter ? { filter } : {}),
  };
}
