/**
 * A runtime for one test: real server, real store in a file of its own, a worker in this process, a client.
 * Importing this file registers the clean-up: after each test everything is closed, and a script that was not
 * used up fails the test.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach } from '@jest/globals';
import { NativeConnection } from '@temporalio/worker';
import type { FaultPoint } from '../../src/activities/base/dependencies.ts';
import type { RuntimeClient } from '../../src/client/runtime-client.ts';
import type { Configuration } from '../../src/configuration.ts';
import type { Registry } from '../../src/core/definition.ts';
import {
  type AgentInput,
  defineAgent,
  defineModel,
  definePrompt,
  registryFrom,
} from '../../src/definitions/index.ts';
import { generateKey, parseKeys } from '../../src/store/crypto/encryption.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { ThreadStore } from '../../src/store/port/thread-store.ts';
import type { ScriptedModel } from '../../src/testing/index.ts';
import { createWorker, type ThreadWorker } from '../../src/worker/index.ts';
import { logged } from '../once/temporal-runtime.ts';
import { type Conversation, conversation } from './conversation.ts';
import { connectPatiently } from './patient-client.ts';

export { type Logged, logged } from '../once/temporal-runtime.ts';
export { eventually } from './eventually.ts';

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  const failures: unknown[] = [];
  for (const close of closers.splice(0).reverse()) await close().catch((error) => failures.push(error));
  logged.length = 0;
  if (failures.length > 0) throw failures[0];
});

/** Something to be closed after the test, latest first. */
export function closeAfterTest(close: () => Promise<void>): void {
  closers.push(close);
}

export interface RuntimeOptions {
  /** Its script must be used up by the end of the test, unless it is a function. */
  readonly model?: ScriptedModel;
  /** Tools by name; all of them are offered by the one prompt. */
  readonly tools?: NonNullable<Parameters<typeof registryFrom>[0]['tools']>;
  /** Effects by name. */
  readonly effects?: Parameters<typeof registryFrom>[0]['effects'];
  readonly side?: Partial<AgentInput['sideA']>;
  readonly prompt?: Partial<Parameters<typeof definePrompt>[0]>;
  readonly registry?: Registry | (() => Registry);
  readonly configuration?: Partial<Configuration>;
  readonly probe?: (point: FaultPoint) => void | Promise<void>;
  readonly store?: ThreadStore;
  readonly taskQueue?: string;
  /** The path of another bundle than our workflows'. */
  readonly workflowBundle?: string;
}

export interface TestRuntime extends Conversation {
  readonly client: RuntimeClient;
  readonly store: ThreadStore;
  readonly worker: ThreadWorker;
  readonly taskQueue: string;
  /** Stops this worker and waits until it is gone. */
  stopWorker(): Promise<void>;
}

/** The registry of one agent "helper" with one prompt "main" and one model "scripted". */
export function helperRegistry({ model, tools = {}, effects, side, prompt }: RuntimeOptions): Registry {
  return registryFrom({
    agents: [defineAgent({ name: 'helper', sideA: { prompt: 'main', ...side } })],
    prompts: [
      definePrompt({
        name: 'main',
        toolDescription: 'the main prompt',
        prompt: 'You help.',
        model: 'scripted',
        includeChat: true,
        includePastTools: true,
        tools: Object.keys(tools),
        ...prompt,
      }),
    ],
    models: [
      defineModel({ name: 'scripted', provider: (model as ScriptedModel).provider, model: 'scripted-1' }),
    ],
    tools,
    effects,
  });
}

export async function testStore(): Promise<ThreadStore> {
  const folder = join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID());
  mkdirSync(folder, { recursive: true });
  const keys = parseKeys(generateKey('test'), 'the test');
  const store = await openStore('sqlite:store.db?synchronous=normal', folder, { keys });
  closeAfterTest(() => store.close());
  return store;
}

export async function testRuntime(options: RuntimeOptions): Promise<TestRuntime> {
  const store = options.store ?? (await testStore());
  const taskQueue = options.taskQueue ?? `test-${randomUUID()}`;
  const registry = options.registry ?? helperRegistry(options);
  const connection = await NativeConnection.connect({ address: process.env.TEMPORAL_ADDRESS });
  const worker = await createWorker({
    projectDir: process.cwd(),
    registry,
    store,
    taskQueue,
    connection,
    workflowBundle: options.workflowBundle ?? process.env.EVERTHREAD_TEST_BUNDLE,
    probe: options.probe,
    configuration: {
      // No worker is killed here: one that a busy machine delays must not be taken for lost.
      modelHeartbeatMs: 10_000,
      toolHeartbeatMs: 10_000,
      toolGraceMs: 500,
      ...options.configuration,
    },
  });
  const running = worker.run();
  const client = await connectPatiently({ store, taskQueue });
  let stopped: Promise<void> | undefined;
  const stopWorker = () => {
    worker.shutdown();
    stopped ??= running.then(() => connection.close());
    return stopped;
  };
  closeAfterTest(async () => {
    await client.close();
    await stopWorker();
    if (options.model && Number.isFinite(options.model.remaining)) options.model.assertConsumed();
  });
  return { client, store, worker, taskQueue, stopWorker, ...conversation(client) };
}
