/**
 * A runtime for one test: real server, real store, a worker in this process, a client. The tests of a file share one
 * worker and its store (`worker-pool.ts`), unless a test needs its own. Importing this file registers the clean-up:
 * after each test everything is closed, and the test fails if a script was not used up.
 */
import { randomUUID } from 'node:crypto';
import { afterEach } from '@jest/globals';
import type { FaultPoint } from '../../src/activities/base/dependencies.ts';
import { newThreadId } from '../../src/client/new-thread-id.ts';
import type { RuntimeClient } from '../../src/client/runtime-client.ts';
import type { Configuration } from '../../src/configuration.ts';
import type { Registry } from '../../src/core/author/registry.ts';
import { isThreadId } from '../../src/core/thread/start-input.ts';
import {
  type AgentInput,
  defineAgent,
  defineModel,
  definePrompt,
  registryFrom,
} from '../../src/definitions/index.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import type { EventListener } from '../../src/store/transaction/event-record.ts';
import type { ScriptedModel } from '../../src/testing/index.ts';
import type { ThreadWorker } from '../../src/worker/index.ts';
import { logged } from '../once/temporal-runtime.ts';
import { type Conversation, conversation } from './conversation.ts';
import { connectPatiently } from './patient-client.ts';
import { type Duty, lendWorker, openTestStore, startWorker, type WorkerTerms } from './worker-pool.ts';

export { type Logged, logged } from '../once/temporal-runtime.ts';
export { eventually } from './eventually.ts';

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  const failures: unknown[] = [];
  for (const close of closers.splice(0).reverse()) await close().catch((error) => failures.push(error));
  logged.length = 0;
  if (failures.length > 0) throw failures[0];
});

/** Registers a function to run after the test; the latest runs first. */
export function closeAfterTest(close: () => Promise<void>): void {
  closers.push(close);
}

export interface RuntimeOptions {
  /** The model's script must be used up by the end of the test, unless it is a function. */
  readonly model?: ScriptedModel;
  /** Tools by name; the prompt offers all of them. */
  readonly tools?: NonNullable<Parameters<typeof registryFrom>[0]['tools']>;
  /** Effects by name. */
  readonly effects?: Parameters<typeof registryFrom>[0]['effects'];
  /** Policies by name. */
  readonly policies?: Parameters<typeof registryFrom>[0]['policies'];
  /** Tasks by name. */
  readonly tasks?: Parameters<typeof registryFrom>[0]['tasks'];
  /** MCP servers by name. */
  readonly mcpServers?: Parameters<typeof registryFrom>[0]['mcpServers'];
  /** Agents elsewhere by name. */
  readonly a2aAgents?: Parameters<typeof registryFrom>[0]['a2aAgents'];
  /** Hooks; those of the agent must also be listed in `agent.hooks`. */
  readonly hooks?: Parameters<typeof registryFrom>[0]['hooks'];
  readonly side?: Partial<AgentInput['sideA']>;
  readonly agent?: Partial<AgentInput>;
  readonly prompt?: Partial<Parameters<typeof definePrompt>[0]>;
  readonly registry?: Registry | (() => Registry);
  readonly configuration?: Partial<Configuration>;
  readonly probe?: (point: FaultPoint) => void | Promise<void>;
  /** With a store or a task queue of its own, the test gets its own worker. */
  readonly store?: ThreadStore;
  readonly taskQueue?: string;
  /**
   * Gives the test its own worker, queue and store: for tests that damage them, count their contents, or leave work
   * running.
   */
  readonly fresh?: boolean;
  /** With `fresh`: receives the events of the worker's threads. */
  readonly listener?: EventListener;
  /** Path of another bundle than that of our workflows. */
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
export function helperRegistry({
  model,
  tools = {},
  effects,
  policies,
  tasks,
  mcpServers,
  a2aAgents,
  hooks,
  side,
  agent,
  prompt,
}: RuntimeOptions): Registry {
  return registryFrom({
    agents: [defineAgent({ name: 'helper', sideA: { prompt: 'main', ...side }, ...agent } as AgentInput)],
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
    policies,
    tasks,
    mcpServers,
    a2aAgents,
    hooks,
  });
}

export async function testStore(): Promise<ThreadStore> {
  const store = await openTestStore();
  closeAfterTest(() => store.close());
  return store;
}

export async function testRuntime(options: RuntimeOptions): Promise<TestRuntime> {
  const registry = options.registry ?? helperRegistry(options);
  const duty: Duty = {
    registry: typeof registry === 'function' ? registry : () => registry,
    probe: options.probe,
  };
  const terms: WorkerTerms = {
    listener: options.listener,
    workflowBundle: options.workflowBundle ?? process.env.EVERTHREAD_TEST_BUNDLE,
    configuration: {
      // No worker is killed here: heartbeats are so long that one which a busy machine delays does not count as lost.
      modelHeartbeatMs: 30_000,
      toolHeartbeatMs: 30_000,
      toolGraceMs: 500,
      modelGraceMs: 0,
      ...options.configuration,
    },
  };
  const isOwn = options.fresh || options.store || options.taskQueue;
  const { worker, giveBack } = await (isOwn ? ownWorker(terms, options, duty) : lendWorker(terms, duty));
  const { store, taskQueue } = worker;
  const client = await connectPatiently({ store, taskQueue });
  const started = new Set<string>();
  const startThread = client.startThread.bind(client);
  client.startThread = async (input) => {
    const { threadId = newThreadId(input.agent) } = input;
    if (isThreadId(threadId)) started.add(threadId);
    return startThread({ ...input, threadId });
  };
  closeAfterTest(async () => {
    await giveBack(client.temporal, started);
    await client.close();
    if (options.model && Number.isFinite(options.model.remaining)) options.model.assertConsumed();
  });
  const stopWorker = () => worker.stop();
  return { client, store, worker: worker.worker, taskQueue, stopWorker, ...conversation(client) };
}

async function ownWorker(terms: WorkerTerms, options: RuntimeOptions, duty: Duty) {
  const store = options.store ?? (await testStore());
  const taskQueue = options.taskQueue ?? `test-${randomUUID()}`;
  const worker = await startWorker(terms, { store, taskQueue }, duty);
  return { worker, giveBack: () => worker.stop() };
}
