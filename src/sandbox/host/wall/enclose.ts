/** Builds the command that starts a child's program behind a wall of one kind. */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, dirname, join, sep } from 'node:path';
import { SANDBOX_LIMITS } from '../../limits.ts';
import { findReadable, type Readable } from './readable.ts';
import { seccompFilter } from './seccomp.ts';
import { FILTER_FD, type WallKind } from './wall.ts';

/** The command that is started in place of Node itself. */
interface Enclosure {
  readonly command: readonly [program: string, ...args: string[]];
  /** System call filter, which the wall reads from `FILTER_FD`. */
  readonly filter?: Buffer;
}

/** The command that is to run behind a wall. */
interface EnclosedCommand {
  /** Node, its options, the program and its arguments. */
  readonly command: readonly string[];
  readonly main: string;
}

export interface Program {
  readonly main: string;
  readonly args: readonly string[];
  /** Whether the program may start threads. */
  readonly threads: boolean;
  /** Without Node's permission model: a probe then tests the wall alone. */
  readonly bare?: boolean;
}

/** Throws if this machine lacks the programs that the wall needs. */
export function enclose(kind: WallKind, { main, args, threads, bare = false }: Program): Enclosure {
  const options = bare ? [] : nodeOptions(main, threads);
  const enclosed = { main, command: [process.execPath, ...options, main, ...args] };
  const enclosure = ENCLOSE[kind](enclosed);
  if (!enclosure) throw new Error(`the program for the wall "${kind}" is not installed`);
  return enclosure;
}

const ENCLOSE = {
  bubblewrap: encloseByBubblewrap,
  namespaces: encloseByNamespaces,
  none: encloseByNothing,
} as const;

const NOBODY = '65534';

/**
 * The wall of bubblewrap: separate namespaces for users, processes, files, network, IPC and host name, no capabilities,
 * a read-only root with only what the child reads and neither `/proc` nor `/dev`, an environment with only the time
 * zone, and the system call filter. The child ends with its parent.
 * Returns undefined if bubblewrap is not installed.
 */
function encloseByBubblewrap({ command, main }: EnclosedCommand): Enclosure | undefined {
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

/**
 * No kernel wall. On Linux, still: limits on the process, an environment with only the time zone, and an end with the
 * parent, if the tools are installed. Isolation relies on Node's permission model.
 */
function encloseByNothing({ command }: EnclosedCommand): Enclosure {
  const [program, ...args] = command;
  if (process.platform !== 'linux') return { command: [program as string, ...args] };
  const setpriv = findTool('setpriv');
  const bound = setpriv === undefined ? [] : [setpriv, '--pdeathsig', 'KILL', '--no-new-privs', '--'];
  const env = findTool('env');
  // Removes the variables that the shell adds.
  const bare = env === undefined ? [] : [env, '-i', 'TZ=UTC'];
  return { command: withinLimits([...bound, ...bare, ...command]) };
}

/**
 * Node's options for a sandbox child. By Node's permission model, it reads its own code, writes nothing, starts
 * neither processes nor threads, and opens no inspector. Node itself enforces that, in JavaScript and native code; the
 * kernel's wall does not rely on it. `threads`: whether a thread of the child must watch its memory.
 */
function nodeOptions(main: string, threads: boolean): string[] {
  return [
    '--no-node-snapshot',
    // Otherwise the engine removes the check by which a running loop is terminated.
    '--no-turboshaft-loop-unrolling',
    // isolated-vm does not know `import source`, and would crash.
    '--no-js-source-phase-imports',
    '--max-old-space-size=256',
    '--disable-warning=SecurityWarning',
    '--disable-warning=ExperimentalWarning',
    // Otherwise a signal would open a debugger port.
    '--disable-sigusr1',
    // SQLite opens and attaches database files without the checks of the permission model.
    '--no-experimental-sqlite',
    '--permission',
    '--allow-addons',
    // A Node that knows this permission wants it for the channel; the child then drops it (`child/main.ts`).
    ...(process.allowedNodeEnvironmentFlags.has('--allow-net') ? ['--allow-net'] : []),
    ...(threads ? ['--allow-worker'] : []),
    // The addon's loader reads this file to detect Alpine.
    '--allow-fs-read=/etc/alpine-release',
    ...findReadable(main).code.map((path) => `--allow-fs-read=${isFolder(path) ? `${path}${sep}*` : path}`),
  ];
}

const isFolder = (path: string): boolean => statSync(path).isDirectory();

/** Common folders on which the new root may be mounted, unless the child reads something below. */
const MOUNT_POINTS = ['/mnt', '/srv', '/media', '/opt', '/run', '/tmp'];

const TOOLS = ['unshare', 'setpriv', 'mount', 'mkdir', 'touch', 'ln', 'env'] as const;
type Tools = Readonly<Record<(typeof TOOLS)[number], string>>;

/**
 * The wall of util-linux, for machines without bubblewrap: namespaces by `unshare`, and a root that a shell makes of
 * read-only binds. It has no system call filter. Users, processes, files, network, IPC and host name are separate; the
 * process is nobody, cannot gain privileges, and can write nothing. The child ends with its parent.
 * Returns undefined if a tool is missing, or a folder on which to mount the root.
 */
function encloseByNamespaces({ command, main }: EnclosedCommand): Enclosure | undefined {
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
  const found = TOOLS.map((name) => [name, findTool(name)] as const);
  return found.some(([, path]) => path === undefined) ? undefined : (Object.fromEntries(found) as Tools);
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
      const make = isFolder(source)
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

const KIB = 1024;
/**
 * Node reserves 560 MiB that it does not use, and each isolate 650. There may be three isolates: one running, one
 * created ahead, and one being disposed.
 */
const DATA_KIB = Math.floor((2_560 * KIB * KIB + SANDBOX_LIMITS.memoryCeiling + 128 * KIB * KIB) / KIB);
const DESCRIPTORS = 128;

/** A limit that cannot be set is already lower. */
const BOUNDS = [`-d ${DATA_KIB}`, '-c 0', '-f 0', `-n ${DESCRIPTORS}`];
const SCRIPT = `${BOUNDS.map((bound) => `ulimit ${bound} 2>/dev/null`).join('; ')}; exec "$@"`;

/**
 * Resource limits of the kernel (`ulimit`), set by a shell that then executes the next program: a bounded data segment,
 * no core file, no writes to files, few descriptors. Whatever is started later inherits them.
 */
function withinLimits(command: readonly string[]): [program: string, ...args: string[]] {
  return ['/bin/sh', '-c', SCRIPT, 'sh', ...command];
}

/** Searched after `PATH`, which for most users lacks the folders of administrators. */
const SYSTEM_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin'];

/** Finds a system program, without running any. */
function findTool(name: string): string | undefined {
  const folders = [
    ...(process.env.PATH ?? '').split(delimiter).filter((folder) => folder.startsWith('/')),
    ...SYSTEM_FOLDERS,
  ];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
