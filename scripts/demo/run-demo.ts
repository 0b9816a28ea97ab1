/**
 * One performance, from an empty folder to the report.
 * R1. What is started is put on the stack of things to end at once, and the stack is unwound however the performance ends.
 * R2. Should this process be killed, the server's guardian and the workers' channels notice, and they end too.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withFileLock } from '../../src/cli/local-server/file-lock.ts';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import { readConfiguration } from '../../src/configuration.ts';
import { createNarrator } from './narrator.ts';
import type { Options } from './option.ts';
import { checkPromises } from './promise.ts';
import { printPlaces, printPrice, printPromises, printTranscript } from './report.ts';
import { Screen } from './screen.ts';
import { openTemporal, serveLibrarian, type TemporalService } from './service.ts';
import { tellStory } from './story.ts';
import { ThreadLog } from './thread-log.ts';
import { WorkerProcess } from './worker-process.ts';

const PROJECT = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');
const FOLDER = resolve(process.env.EVERTHREAD_DEMO_FOLDER || join(PROJECT, '.everthread', 'demo'));
const STORE = `sqlite:${join(FOLDER, 'store.db')}`;
/** The folder may be one of the user's: nothing else in it is touched. */
const MADE_BY_US = /^(?:store|temporal)\.db|^published\.md$|^(?:temporal|worker-\w)\.log$/;

/** Resolves to whether every promise was kept; with `keep`, once the signal is aborted. Else an abort makes it reject. */
export async function runDemo(options: Options, signal: AbortSignal): Promise<boolean> {
  mkdirSync(FOLDER, { recursive: true });
  const refuse = () => {
    throw new Error(`another demo is running in ${FOLDER}: end that one first`);
  };
  return withFileLock(join(FOLDER, 'demo.lock'), refuse, async () => {
    for (const name of readdirSync(FOLDER)) if (MADE_BY_US.test(name)) rmSync(join(FOLDER, name));
    const screen = new Screen();
    const stack = new AsyncDisposableStack();
    const aborted = untilAborted(signal);
    try {
      const performed = perform(options, screen, stack, signal);
      const kept = await Promise.race([performed, aborted.then(() => signal.throwIfAborted())]);
      if (options.keep) await aborted;
      return kept === true;
    } finally {
      screen.endStream();
      await stack.disposeAsync();
    }
  });
}

async function perform(
  options: Options,
  screen: Screen,
  stack: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<boolean> {
  screen.plain('A conversation, and three workers that carry it. Two of them will be killed.\n');
  const temporal = await openTemporal(FOLDER, (line) => screen.say('server', line));
  stack.defer(() => temporal.stop());
  const modelUrl = await openModel(options, screen, stack);
  const threadId = `demo-${randomUUID().slice(0, 8)}`;
  // On a service that others use, a queue of this run's own.
  const taskQueue = temporal.isOwn ? 'everthread' : `everthread-${threadId}`;
  const env = { ...process.env, ...toEnvironment(temporal, taskQueue, modelUrl) };

  const failure = Promise.withResolvers<never>();
  const startWorker = (name: string): WorkerProcess => {
    // Events are read a moment later than lines: what a tool says must not come before its beginning.
    const onLine = (line: string) => setTimeout(() => screen.say('worker', line, `worker ${name}`), 120);
    const worker = new WorkerProcess({
      name,
      projectDir: PROJECT,
      env,
      logFile: join(FOLDER, `worker-${name}.log`),
      onLine,
    });
    stack.defer(() => worker.stop());
    worker.ready.catch(failure.reject);
    return worker;
  };
  const first = startWorker('A');
  await first.ready;
  screen.say('worker', `process ${first.pid} serves the task queue "${taskQueue}"`, 'worker A');

  const { address, namespace } = temporal;
  const client = await RuntimeClient.connect({ address, namespace, taskQueue, store: STORE });
  stack.defer(() => client.close());
  if (!temporal.isOwn) stack.defer(() => endWorkflow(client, threadId));
  const log = new ThreadLog(client, threadId, createNarrator(screen, client, threadId));
  stack.defer(() => log.close());

  const timeouts = readConfiguration();
  const stage = { screen, client, threadId, log, startWorker, early: options.early, timeouts, signal };
  const crashes = await Promise.race([tellStory(stage, options.question, first), failure.promise]);
  const findings = await checkPromises(client, threadId, { events: log.events, crashes });
  const { messages } = await client.getMessages(threadId, { limit: 1000 });
  const { historyLength } = await client.temporal.workflow.getHandle(`thread/${threadId}`).describe();
  printTranscript(screen, messages);
  printPromises(screen, findings);
  printPrice(screen, crashes);
  printPlaces(screen, { temporal, threadId, taskQueue, folder: FOLDER, historyLength, keep: options.keep });
  return findings.every(({ kept }) => kept);
}

/** The address of the scripted model, or undefined where a real one answers. */
async function openModel(
  options: Options,
  screen: Screen,
  stack: AsyncDisposableStack,
): Promise<string | undefined> {
  const { OPENAI_API_KEY, OPENAI_BASE_URL, EVERTHREAD_MODEL } = process.env;
  if (!options.scripted && (OPENAI_API_KEY || OPENAI_BASE_URL)) {
    const host = URL.parse(OPENAI_BASE_URL ?? '')?.host ?? 'OpenAI';
    screen.say(
      'server',
      `${EVERTHREAD_MODEL || 'the default model'} at ${host} (--scripted for one that needs no key)`,
    );
    return undefined;
  }
  const model = await serveLibrarian(PROJECT);
  stack.defer(() => model.close());
  screen.say('server', `scripted model at ${model.url} (set OPENAI_API_KEY for a real one)`);
  return model.url;
}

function toEnvironment(
  temporal: TemporalService,
  taskQueue: string,
  modelUrl: string | undefined,
): NodeJS.ProcessEnv {
  return {
    EVERTHREAD_STORE: STORE,
    EVERTHREAD_TASK_QUEUE: taskQueue,
    EVERTHREAD_DEMO_FOLDER: FOLDER,
    EVERTHREAD_DEMO_MODEL_URL: modelUrl ?? '',
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
  };
}

/** Needs no worker: on a service of the user's, no workflow stays that nobody will ever serve. */
async function endWorkflow(client: RuntimeClient, threadId: string): Promise<void> {
  const handle = client.temporal.workflow.getHandle(`thread/${threadId}`);
  await handle.terminate('the demo is over').catch(() => undefined);
}

function untilAborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => resolve(), { once: true });
  if (signal.aborted) resolve();
  return promise;
}
