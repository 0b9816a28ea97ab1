/**
 * Chooses the wall for the children of this process: the best that passes a probe, which runs once per setting. A probe
 * is a real program behind a real wall that tries what an attacker would.
 */
import { spawn } from 'node:child_process';
import { createServer, type Server, type Socket } from 'node:net';
import { homedir } from 'node:os';
import { extname } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { errorMessage, RuntimeError } from '../../../core/value/error.ts';
import { childProgram } from '../program.ts';
import { enclose } from './enclose.ts';
import {
  CHANNEL_FD,
  FILTER_FD,
  isDemanding,
  PROTECTIONS,
  type Wall,
  type WallKind,
  type WallSetting,
} from './wall.ts';

const WALLS_BY_STRENGTH: readonly WallKind[] = ['bubblewrap', 'namespaces'];

const chosen = new Map<WallSetting, Promise<Wall>>();

/** Rejects with `InvalidConfiguration` if the setting requires a wall that this machine does not have. */
export function chooseWall(setting: WallSetting): Promise<Wall> {
  const known = chosen.get(setting);
  if (known) return known;
  const choice = choose(setting);
  chosen.set(setting, choice);
  return choice;
}

async function choose(setting: WallSetting): Promise<Wall> {
  const ladder = setting === 'bubblewrap' || setting === 'namespaces' ? [setting] : WALLS_BY_STRENGTH;
  const missing: { kind: WallKind; why: string }[] = [];
  for (const kind of setting === 'none' ? [] : ladder) {
    const probed = await probeWall(kind);
    if (probed.stands) return { kind, holds: PROTECTIONS, seccomp: probed.seccomp, missing };
    missing.push({ kind, why: probed.why });
  }
  if (!isDemanding(setting)) return { kind: 'none', holds: [], seccomp: false, missing };
  const whys = missing.map(({ kind, why }) => `${kind}: ${why}`).join('; ');
  throw new RuntimeError(
    'InvalidConfiguration',
    `EVERTHREAD_SANDBOX_WALL is "${setting}", but no such wall is available here (${whys}). ${WALL_ADVICE}`,
  );
}

/** Advice for a machine without a wall. */
export const WALL_ADVICE =
  process.platform === 'linux'
    ? 'Install bubblewrap (apt install bubblewrap), and allow this user to create user namespaces.'
    : 'Run workers that execute untrusted code on Linux, where the kernel provides walls.';

/**
 * Tests a wall: runs `child/wall-probe.ts` behind it, without Node's permission model, with a list of the host's
 * resources that it must not reach. A wall passes if the program answers, the engine loads, and nothing was reached.
 */
type Probed =
  | { readonly stands: true; readonly seccomp: boolean }
  | { readonly stands: false; readonly why: string };

/** Resources that the program tries to reach, passed as its argument. */
interface Targets {
  readonly pid: number;
  readonly port: number;
  readonly files: readonly string[];
  readonly folders: readonly string[];
}

/** The answer on the channel: what the program reached, by the protection that should have prevented it. */
type ProbeAnswer = Readonly<Record<string, string | undefined>>;

const PROGRAM = fileURLToPath(new URL(`../../child/wall-probe${extname(import.meta.url)}`, import.meta.url));
const DEADLINE_MS = 60_000;
const MAX_SHOWN_LENGTH = 300;

export async function probeWall(kind: WallKind, deadlineMs = DEADLINE_MS): Promise<Probed> {
  if (process.platform !== 'linux') return { stands: false, why: `not on ${process.platform}` };
  const server = createServer((socket) => socket.destroy());
  try {
    const port = await listen(server);
    const targets: Targets = {
      pid: process.pid,
      port,
      files: ['/etc/passwd', '/bin/sh', `/proc/${process.pid}/environ`],
      folders: ['/', '/tmp', '/dev/shm', homedir(), process.cwd()],
    };
    return await run(kind, targets, deadlineMs);
  } catch (error) {
    return { stands: false, why: errorMessage(error) };
  } finally {
    server.close();
  }
}

async function run(kind: WallKind, targets: Targets, deadlineMs: number): Promise<Probed> {
  const enclosed = enclose(kind, {
    main: await childProgram(PROGRAM),
    args: [JSON.stringify(targets)],
    threads: false,
    bare: true,
  });
  const [program, ...args] = enclosed.command;
  const child = spawn(program, args, {
    env: { TZ: 'UTC' },
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', ...(enclosed.filter ? (['pipe'] as const) : [])],
  });
  if (enclosed.filter) (child.stdio[FILTER_FD] as Socket).on('error', () => undefined).end(enclosed.filter);
  const timer = setTimeout(() => {
    if (child.pid) process.kill(-child.pid, 'SIGKILL');
    // Processes that it has started in another group may hold the streams open.
    for (const stream of child.stdio) stream?.destroy(new Error(`it did not end within ${deadlineMs} ms`));
  }, deadlineMs);
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  try {
    const [answer, said, how] = await Promise.all([
      text(child.stdio[CHANNEL_FD] as Socket),
      text(child.stderr as NodeJS.ReadableStream),
      ended,
    ]);
    return judgeAnswer(answer, `${how}: ${said.trim()}`, enclosed.filter !== undefined);
  } finally {
    clearTimeout(timer);
  }
}

function judgeAnswer(answer: string, how: string, seccomp: boolean): Probed {
  const reached = readAnswer(answer);
  if (!reached)
    return { stands: false, why: `no program can run inside it (${how.slice(0, MAX_SHOWN_LENGTH)})` };
  const breaches = PROTECTIONS.filter((hold) => reached[hold] !== undefined);
  if (breaches.length === 0) return { stands: true, seccomp };
  const listed = breaches.map((hold) => `${hold} (${reached[hold]})`).join(', ');
  return { stands: false, why: `it does not protect: ${listed}` };
}

function readAnswer(answer: string): ProbeAnswer | undefined {
  try {
    return JSON.parse(answer) as ProbeAnswer;
  } catch {
    return undefined;
  }
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : 0);
    });
  });
}
