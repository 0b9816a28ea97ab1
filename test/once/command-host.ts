/**
 * Runs commands in processes that are reused, each one command at a time (`command-process.ts`). Starting a process and
 * loading the command takes a second of computing; output and exit code are the same.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { LASTING_OPTIONS } from '../support/program-options.ts';

export interface CommandOrder {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly input: string;
}

export interface CommandAnswer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Maximum number of processes: commands that wait for an answer of a thread may run concurrently. */
const HOSTS = 4;

const idle: ChildProcess[] = [];
const waiting: ((host: ChildProcess) => void)[] = [];
let hosts = 0;

/** Runs a command; rejects if the command ends its process itself. */
export async function runInHost(order: CommandOrder): Promise<CommandAnswer> {
  const host = await takeHost();
  try {
    const answer = await ask(host, order);
    giveBack(host);
    return answer;
  } catch (error) {
    hosts -= 1;
    const next = waiting.shift();
    if (next) next(startHost());
    throw error;
  }
}

async function takeHost(): Promise<ChildProcess> {
  const host = idle.pop();
  if (host) return host;
  return hosts < HOSTS ? startHost() : new Promise((resolve) => waiting.push(resolve));
}

function giveBack(host: ChildProcess): void {
  const next = waiting.shift();
  if (next) next(host);
  else idle.push(host);
}

function startHost(): ChildProcess {
  hosts += 1;
  const host = fork(fileURLToPath(new URL('./command-process.ts', import.meta.url)), [], {
    execArgv: [...LASTING_OPTIONS, '--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  // The host ends with this process, and does not keep it alive.
  host.unref();
  host.channel?.unref();
  return host;
}

function ask(host: ChildProcess, order: CommandOrder): Promise<CommandAnswer> {
  return new Promise((resolve, reject) => {
    const done = () => {
      host.off('message', onMessage).off('exit', onExit);
      host.unref();
      host.channel?.unref();
    };
    const onMessage = (answer: unknown) => {
      done();
      resolve(answer as CommandAnswer);
    };
    const onExit = (code: number | null, signal: string | null) => {
      done();
      reject(new Error(`everthread ${order.args.join(' ')} ended its process: ${code ?? signal}`));
    };
    host.ref();
    host.channel?.ref();
    host.on('message', onMessage).on('exit', onExit);
    host.send(order);
  });
}
