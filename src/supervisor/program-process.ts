/**
 * Runs one of our programs in a child process, which exchanges messages with this one and writes a journal.
 * - It has no debugger port, opened by a signal or otherwise, unless the caller asks for one. `--inspect` options of
 *   this process are not passed on: programs that the child starts would have a port too.
 * - Its environment is that of this process without secrets (secret-environment.ts); those are sent in a message.
 * - It ends when the channel closes: no program outlives its supervisor. If its event loop is blocked, its watchdog
 *   thread ends it.
 * - Its end is reported after everything in its journal has been read.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { JOURNAL_FD, Journal, type Stall, type Unit } from './journal.ts';

export interface ProgramEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly running: readonly Unit[];
  readonly stall?: Stall;
}

export interface ProgramProcess<ToProgram, FromProgram> {
  readonly pid: number | undefined;
  /** Sends a message; does nothing after the process has ended. */
  send(message: ToProgram): void;
  onMessage: (message: FromProgram) => void;
  kill(): void;
  /** Resolves when the process has ended, however it ended. Never rejects. */
  readonly ended: Promise<ProgramEnd>;
}

/** Limit for reading the journal to its end: a process that the program started may keep the pipe open. */
const JOURNAL_READ_MS = 2_000;

export interface ProgramOptions {
  readonly cwd?: string;
  /** `host:port` for the debugger of the program. */
  readonly inspect?: string | undefined;
  /** Variables added to the environment of the program. */
  readonly env?: Readonly<Record<string, string>>;
}

export function startProgram<ToProgram, FromProgram>(
  program: URL,
  { cwd = process.cwd(), inspect, env }: ProgramOptions = {},
): ProgramProcess<ToProgram, FromProgram> {
  const child = fork(fileURLToPath(program), [], {
    cwd,
    // This process's own debugger options are not passed on.
    execArgv: [
      ...process.execArgv.filter((option) => !option.startsWith('--inspect')),
      ...(inspect === undefined ? [] : [`--inspect=${inspect}`]),
      '--disable-sigusr1',
    ],
    ...(env ? { env: { ...process.env, ...env } } : {}),
    // Messages carry bytes, such as certificates.
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'],
  });
  const journal = new Journal();
  const pipe = child.stdio[JOURNAL_FD] as Readable;
  pipe.setEncoding('utf8').on('data', (text: string) => journal.read(text));
  pipe.on('error', () => undefined);
  const started: ProgramProcess<ToProgram, FromProgram> = {
    pid: child.pid,
    // A process that has just ended cannot receive messages; its end is about to be reported.
    send: (message) => void (child.connected && child.send(message as object, () => undefined)),
    onMessage: () => undefined,
    kill: () => void child.kill('SIGKILL'),
    ended: whenEnded(child, pipe, journal),
  };
  child.on('message', (message) => started.onMessage(message as FromProgram));
  return started;
}

async function whenEnded(child: ChildProcess, pipe: Readable, journal: Journal): Promise<ProgramEnd> {
  const read = once(pipe, 'close');
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
    child.on('exit', (...end) => resolve(end));
    // The process could not be started.
    child.on('error', () => child.pid === undefined && resolve([1, null]));
  });
  await Promise.race([read, delay(JOURNAL_READ_MS, undefined, { ref: false })]);
  return { code, signal, running: journal.running, stall: journal.stall };
}
