/**
 * What every performance needs: a Temporal service, a model, a store, a client, and workers that may be killed.
 * - All that is started is put on a stack of resources at once, which is unwound however the performance ends.
 * - If this process is killed, the server's guardian and the workers' channels notice, and they end too.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import { readConfiguration } from '../../src/configuration.ts';
import { generateKey, parseKeys } from '../../src/store/crypto/encryption.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Options } from './option.ts';
import type { Screen } from './screen.ts';
import { openTemporal, serveLibrarian, type TemporalService } from './service.ts';
import { WorkerProcess } from './worker-process.ts';

export interface Theatre {
  readonly options: Options;
  readonly screen: Screen;
  readonly temporal: TemporalService;
  readonly taskQueue: string;
  readonly client: RuntimeClient;
  /** The thread with which the performance begins. */
  readonly threadId: string;
  readonly folder: string;
  /** Environment of the workers, and of commands that run beside them. */
  readonly environment: NodeJS.ProcessEnv;
  readonly stack: AsyncDisposableStack;
  /** Aborts waits for something outside Everthread. */
  readonly signal: AbortSignal;
  /** Silence after which a worker counts as lost. */
  readonly timeouts: { readonly modelHeartbeatMs: number; readonly toolHeartbeatMs: number };
  /** The first worker, which serves already. */
  readonly first: WorkerProcess;
  startWorker(name: string): WorkerProcess;
  /** Rejects if a worker does not start. */
  readonly failure: Promise<never>;
}

export interface House {
  readonly options: Options;
  readonly screen: Screen;
  readonly stack: AsyncDisposableStack;
  readonly signal: AbortSignal;
  readonly folder: string;
  readonly projectDir: string;
}

export async function openTheatre(house: House): Promise<Theatre> {
  const { options, screen, stack, folder, projectDir } = house;
  const temporal = await openTemporal(folder, (line) => screen.say('server', line));
  stack.defer(() => temporal.stop());
  const modelUrl = await openModel(house);
  const threadId = `demo-${randomUUID().slice(0, 8)}`;
  // On a shared service, this run has its own queue.
  const taskQueue = temporal.isOwn ? 'everthread' : `everthread-${threadId}`;
  const keys = generateKey('demo');
  const storeAddress = `sqlite:${join(folder, 'store.db')}`;
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    EVERTHREAD_STORE: storeAddress,
    EVERTHREAD_TASK_QUEUE: taskQueue,
    EVERTHREAD_DEMO_FOLDER: folder,
    EVERTHREAD_DEMO_MODEL_URL: modelUrl ?? '',
    EVERTHREAD_ENCRYPTION_KEYS: keys,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
  };
  const failure = Promise.withResolvers<never>();
  // Keeps a late failure of a worker from being an unhandled rejection.
  failure.promise.catch(() => undefined);
  const startWorker = (name: string): WorkerProcess => {
    // Lines are delayed, because events are read later: a tool's output must not precede its beginning.
    const onLine = (line: string) => setTimeout(() => screen.say('worker', line, `worker ${name}`), 120);
    const logFile = join(folder, `worker-${name}.log`);
    const worker = new WorkerProcess({ name, projectDir, env, logFile, onLine });
    stack.defer(() => worker.stop());
    worker.ready.catch(failure.reject);
    return worker;
  };
  const first = startWorker('A');
  await first.ready;
  screen.say('worker', `process ${first.pid} serves the task queue "${taskQueue}"`, 'worker A');
  const { address, namespace } = temporal;
  const store = await openStore(storeAddress, folder, { keys: parseKeys(keys, 'the demo') });
  stack.defer(() => store.close());
  const client = await RuntimeClient.connect({ address, namespace, taskQueue, store });
  stack.defer(() => client.close());
  const { signal } = house;
  const timeouts = readConfiguration();
  return {
    ...{ options, screen, temporal, taskQueue, client, threadId, folder, stack, signal, timeouts },
    ...{ first, startWorker, failure: failure.promise, environment: env },
  };
}

/** Returns the address of the scripted model; undefined if a real model answers. */
async function openModel({ options, screen, stack, projectDir }: House): Promise<string | undefined> {
  const { OPENAI_API_KEY, OPENAI_BASE_URL, EVERTHREAD_MODEL } = process.env;
  if (!options.scripted && (OPENAI_API_KEY || OPENAI_BASE_URL)) {
    const host = URL.parse(OPENAI_BASE_URL ?? '')?.host ?? 'OpenAI';
    screen.say(
      'server',
      `${EVERTHREAD_MODEL || 'the default model'} at ${host} (--scripted for one that needs no key)`,
    );
    return undefined;
  }
  const model = await serveLibrarian(projectDir);
  stack.defer(() => model.close());
  screen.say('server', `scripted model at ${model.url} (set OPENAI_API_KEY for a real one)`);
  return model.url;
}
