/**
 * The wall of util-linux, for machines without bubblewrap: namespaces by `unshare`, and a root that a shell makes of
 * read-only binds. It has no system call filter. Users, processes, files, network, IPC and host name are separate; the
 * process is nobody, cannot gain privileges, and can write nothing. The child ends with its parent.
 */
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { withinLimits } from './limits-command.ts';
import { findReadable, type Readable } from './readable.ts';
import { findTool } from './tools.ts';
import type { EnclosedCommand, Enclosure } from './wall.ts';

const NOBODY = '65534';
/** Common folders on which the new root may be mounted, unless the child reads something below. */
const MOUNT_POINTS = ['/mnt', '/srv', '/media', '/opt', '/run', '/tmp'];

const TOOLS = ['unshare', 'setpriv', 'mount', 'mkdir', 'touch', 'ln', 'env'] as const;
type Tools = Readonly<Record<(typeof TOOLS)[number], string>>;

/** Returns undefined if a tool is missing, or a folder on which to mount the root. */
export function encloseByNamespaces({ command, main }: EnclosedCommand): Enclosure | undefined {
  const tools = findTools();
  const readable = findReadable(main);
  const root = MOUNT_POINTS.find((point) => isFree(point, readable));
  if (tools === undefined || root === undefined) return undefined;
  const { unshare, setpriv } = tools;
  return {
    command: withinLimits([
      ...[unshare, '--user', '--map-root-user', '--'],
      // A change of user clears the parent-death signal, so it is set afterwards.
      ...[setpriv, '--pdeathsig', 'KILL', '--no-new-privs', '--'],
      ...[unshare, '--mount', '--net', '--ipc', '--uts', '--pid', '--fork', '--kill-child=KILL', '--'],
      ...['/bin/sh', '-c', makeScript(root, readable, tools), 'sh', ...command],
    ]),
  };
}

function findTools(): Tools | undefined {
  const found: Partial<Record<keyof Tools, string>> = {};
  for (const name of TOOLS) {
    const path = findTool(name);
    if (path === undefined) return undefined;
    found[name] = path;
  }
  return found as Tools;
}

/** Returns a script that makes the root, and executes its arguments as nobody with that root. */
function makeScript(root: string, readable: Readable, tools: Tools): string {
  const { mount, env, unshare } = tools;
  return [
    'set -e',
    `${mount} -t tmpfs -o size=4m,mode=755,nosuid,nodev everthread ${root}`,
    ...makeRoot(root, readable, tools),
    `${mount} -o remount,ro,nosuid,nodev ${root}`,
    // Mapped to nobody, the next program has no capabilities; with its root changed, it can create no namespaces.
    `exec ${env} -i TZ=UTC ${unshare} --user --map-user=${NOBODY} --map-group=${NOBODY} --root=${root} --wd=/ -- "$@"`,
  ].join('\n');
}

function makeRoot(root: string, { binds, links }: Readable, { mount, mkdir, touch, ln }: Tools): string[] {
  return [
    ...binds.flatMap(({ source, target }) => {
      const at = quote(root + target);
      const folder = statSync(source).isDirectory();
      const make = folder
        ? `${mkdir} -p ${at}`
        : `${mkdir} -p ${quote(root + dirname(target))}\n[ -e ${at} ] || ${touch} ${at}`;
      return [
        make,
        `${mount} --bind ${quote(source)} ${at}`,
        `${mount} -o remount,bind,ro,nosuid,nodev ${at}`,
      ];
    }),
    ...links.flatMap(({ at, to }) => [
      `${mkdir} -p ${quote(root + dirname(at))}`,
      `${ln} -s ${quote(to)} ${quote(root + at)}`,
    ]),
  ];
}

function isFree(point: string, { binds }: Readable): boolean {
  const below = ({ source }: { source: string }) => source === point || source.startsWith(`${point}/`);
  return statSync(point, { throwIfNoEntry: false })?.isDirectory() === true && !binds.some(below);
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
