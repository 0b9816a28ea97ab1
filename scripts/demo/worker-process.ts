/** A worker as a child process that can be killed without warning. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('./worker.ts', import.meta.url));
const GRACE_MS = 3000;

export interface WorkerOptions {
  readonly name: string;
  readonly projectDir: string;
  readonly env: NodeJS.ProcessEnv;
  /** File that receives the worker's standard error. */
  readonly logFile: string;
  /** Called with each line that the worker, or a tool in it, prints. */
  readonly onLine: (line: string) => void;
}

export class WorkerProcess {
  readonly name: string;
  readonly pid: number;
  /** Resolves when the worker serves its task queue; rejects with its last output if it ends before that. */
  readonly ready: Promise<void>;
  readonly #child: ChildProcess;
  readonly #exit: Promise<unknown>;

  constructor({ name, projectDir, env, logFile, onLine }: WorkerOptions) {
    const child = spawn(process.execPath, [...process.execArgv, PROGRAM], {
      cwd: projectDir,
      env,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    child.stderr?.pipe(createWriteStream(logFile));
    if (child.stdout) createInterface(child.stdout).on('line', onLine);
    this.name = name;
    this.#child = child;
    this.#exit = once(child, 'exit');
    this.pid = child.pid ?? 0;
    const ended = this.#exit.then(() => {
      throw new Error(
        `A worker ended before it was ready. It said:\n${readFileSync(logFile, 'utf8').slice(-2000)}`,
      );
    });
    this.ready = Promise.race([once(child, 'message').then(() => undefined), ended]);
    // Keeps an early kill from being an unhandled rejection.
    this.ready.catch(() => undefined);
  }

  /** Sends SIGKILL: no warning, no clean-up, as when the machine is lost. Returns the time, in ms since 1970. */
  async kill(): Promise<number> {
    const at = Date.now();
    this.#child.kill('SIGKILL');
    await this.#exit;
    return at;
  }

  /** Ends the worker in order, or after three seconds by force. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGTERM');
    const force = setTimeout(() => this.#child.kill('SIGKILL'), GRACE_MS);
    await this.#exit;
    clearTimeout(force);
  }
}
