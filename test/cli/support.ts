/** Runs the real command, in a project of the test. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openStore } from '../../src/store/open-store.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import { findFreePorts, isPortFree } from '../../src/temporal-service/free-port.ts';
import { runInHost } from '../once/command-host.ts';
import { placeStore } from '../once/store-template.ts';
import { eventually } from '../support/eventually.ts';
import { PROGRAM_OPTIONS } from '../support/program-options.ts';

const COMMAND = fileURLToPath(new URL('../../bin/everthread.js', import.meta.url));
const zodFolder = dirname(createRequire(import.meta.url).resolve('zod/package.json'));

export interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly process: ChildProcess;
  stdout(): string;
  stderr(): string;
  readonly ended: Promise<Result>;
}

export interface RunOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** True for a separate process, as in a shell. Default: whether the command is one of `ALONE`. */
  readonly alone?: boolean;
}

/**
 * Commands that need a separate process, because what they load or start stays in it: a worker SDK that is set up once,
 * modules of a project, processes.
 */
const ALONE = ['worker', 'dev', 'doctor', 'validate'];

export interface CliProject {
  readonly folder: string;
  write(files: Readonly<Record<string, string>>): void;
  /** How another program starts a command; that program must end it. */
  command(args: readonly string[]): {
    readonly command: string;
    readonly args: string[];
    readonly cwd: string;
    readonly env: Record<string, string>;
  };
  /** Starts a command; `env` is added to the test's own settings, undefined removes; `node` is another Node. */
  start(args: readonly string[], env?: Readonly<Record<string, string | undefined>>, node?: string): Running;
  /** Runs a command to its end, in a separate process where that matters. */
  run(args: readonly string[], options?: RunOptions): Promise<Result>;
  /** Ends what still runs, and removes the folder. */
  remove(): Promise<void>;
}

/** Finds a port at which `dev` may start a server; the port 1,000 above, for its Web UI, is free too. */
export async function freeDevPort(): Promise<number> {
  for (;;) {
    const [port = 0] = await findFreePorts(1);
    if (await isPortFree(port + 1000)) return port;
  }
}

/** Creates a project whose store `fill` has filled; nobody else uses it, and it is closed before a command runs. */
export async function cliProjectWith(fill: (store: ThreadStore) => Promise<void>): Promise<CliProject> {
  const project = await cliProject();
  mkdirSync(join(project.folder, 'data'));
  await placeStore(join(project.folder, 'data', 'store.db'));
  const store = await openStore('sqlite:data/store.db', project.folder);
  await fill(store);
  await store.close();
  return project;
}

/** Creates a project folder with its own task queue and store, on the tests' server. */
export async function cliProject(files: Readonly<Record<string, string>> = {}): Promise<CliProject> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'everthread-cli-')));
  const running = new Set<Running>();
  const devPort = await freeDevPort();
  const settings = {
    EVERTHREAD_TASK_QUEUE: `cli-${randomUUID()}`,
    EVERTHREAD_STORE: 'sqlite:data/store.db?synchronous=normal',
    EVERTHREAD_TEMPORAL_CLI: process.env.EVERTHREAD_TEST_TEMPORAL_CLI,
    // Otherwise a `dev` of another test would be used as the existing server.
    EVERTHREAD_DEV_PORT: String(devPort),
    EVERTHREAD_ENCRYPTION_KEYS: undefined,
    EVERTHREAD_LOG: undefined,
    // No grace period for a model that hangs.
    EVERTHREAD_MODEL_GRACE_MS: '0',
    EVERTHREAD_HEALTH: undefined,
    OPENAI_API_KEY: undefined,
    OPENAI_BASE_URL: undefined,
    NO_COLOR: undefined,
    FORCE_COLOR: undefined,
    npm_lifecycle_event: undefined,
  };

  const environment = (more: Readonly<Record<string, string | undefined>> = {}) =>
    Object.fromEntries(
      Object.entries({ ...process.env, ...settings, ...more }).filter(([, value]) => value !== undefined),
    ) as Record<string, string>;
  const start: CliProject['start'] = (args, env, node = process.execPath) => {
    // Another version of Node may not know the options.
    const options = node === process.execPath ? PROGRAM_OPTIONS : [];
    const child = spawn(node, [...options, COMMAND, ...args], {
      cwd: folder,
      env: environment(env),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const output = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
    const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...output }));
    const started: Running = {
      process: child,
      stdout: () => output.stdout,
      stderr: () => output.stderr,
      ended,
    };
    running.add(started);
    void ended.then(() => running.delete(started));
    return started;
  };
  const write: CliProject['write'] = (more) => {
    for (const [path, content] of Object.entries(more)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    }
  };
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(zodFolder, join(folder, 'node_modules', 'zod'));
  write(files);
  return {
    folder,
    write,
    start,
    command: (args) => ({
      command: process.execPath,
      args: [...PROGRAM_OPTIONS, COMMAND, ...args],
      cwd: folder,
      env: environment(),
    }),
    async run(args, { input = '', env, alone = ALONE.includes(args[0] ?? '') } = {}) {
      if (!alone) return runInHost({ args, input, cwd: folder, env: environment(env) });
      const command = start(args, env);
      command.process.stdin?.end(input);
      return command.ended;
    },
    async remove() {
      const left = [...running];
      for (const { process: child } of left) child.kill('SIGKILL');
      await Promise.all(left.map(({ ended }) => ended));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** One agent `helper` with one tool; its model answers by the message that it receives. */
export const HELPER: Readonly<Record<string, string>> = {
  'agents/agents/helper.ts': `
import { defineAgent } from 'everthread';
export default defineAgent({ name: 'helper', sideA: { prompt: 'talk' } });
`,
  'agents/prompts/talk.ts': `
import { definePrompt } from 'everthread';
export default definePrompt({
  name: 'talk', toolDescription: 'Talks.', prompt: 'You talk.', model: 'scripted', tools: ['weather'], includeChat: true,
});
`,
  'agents/models/scripted.ts': `
import { defineModel } from 'everthread';
import { calls, fails, hangs, says, scriptedModel } from 'everthread/testing';
const model = scriptedModel((request) => {
  const last = request.messages.at(-1);
  const text = typeof last.content === 'string' ? last.content : JSON.stringify(last.content);
  if (last.role === 'tool') return says('The tool says: ' + text, { chunks: 4, chunkDelayMs: 60 });
  if (text.includes('weather')) return calls('weather', { city: 'Paris' });
  if (text.includes('break')) return fails({ status: 400, message: 'the model is broken' });
  if (text.includes('hang')) return hangs({ after: 'I begin, and' });
  if (text.includes('escape')) return says('red \\u001b[31m alarm');
  return says('You said: ' + text, { chunks: 4, chunkDelayMs: 60 });
});
export default defineModel({ name: 'scripted', provider: model.provider, model: 'scripted-1' });
`,
  'agents/tools/weather.ts': `
import { defineTool } from 'everthread';
import { z } from 'zod';
export default defineTool({
  description: 'Tells the weather.', args: z.object({ city: z.string() }),
  execute: async (_state, { city }) => ({ status: 'success', result: 'sunny in ' + city }),
});
`,
};

/**
 * Waits for a text in the output of a command; fails with its whole output if it ends before. A worker is ready after
 * two seconds, but after more than a minute if twenty processes share two cores.
 */
export async function seen(command: Running, text: string | RegExp, withinMs = 110_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  const found = () =>
    [command.stdout(), command.stderr()].some((output) =>
      typeof text === 'string' ? output.includes(text) : text.test(output),
    );
  while (!found()) {
    const { exitCode, signalCode } = command.process;
    if (performance.now() > deadline || exitCode !== null || signalCode !== null) {
      throw new Error(
        `Not seen: ${text}\nexit ${exitCode ?? signalCode}\n${command.stdout()}\n${command.stderr()}`,
      );
    }
    await delay(20);
  }
}

/** Starts a thread and follows its log, once a worker has begun it: before that the store does not know it. */
export async function tailOfNew(project: CliProject, message: string): Promise<Running> {
  const id = (await project.run(['threads', 'start', 'helper', message])).stdout.trim();
  const isKnown = async () => (await project.run(['threads', 'show', id])).code === 0;
  await eventually('the thread is in the store', isKnown, 110_000);
  return project.start(['threads', 'tail', id]);
}
