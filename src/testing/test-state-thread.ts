/** Opens the thread of `testState` in a temporary store, with the same ThreadState that a worker makes for a tool. */

import { randomUUID } from 'node:crypto';
import { openAuthorCode } from '../author/open-author-code.ts';
import type { WorkSink } from '../author/state/work-sink.ts';
import { newThreadId } from '../client/new-thread-id.ts';
import type { Registry, ToolDefinition } from '../core/author/registry.ts';
import type { Scratch, ThreadState, UnknownFields } from '../core/author/thread-state.ts';
import { findActiveSide } from '../core/project/active-side.ts';
import { RuntimeError } from '../core/value/error.ts';
import { didYouMean } from '../definitions/index.ts';
import { createSandbox } from '../sandbox/index.ts';
import type { ThreadStore } from '../store/store.ts';
import type { ThreadRecord } from '../store/thread/thread-record.ts';
import { closeWithTests } from './close-with-tests.ts';
import { chooseAgent, openTestProject } from './test-project.ts';
import { openTemporaryStore } from './test-store.ts';
import type { TestThreadOptions } from './test-thread.ts';

export interface TestStateOptions
  extends Pick<TestThreadOptions, 'agent' | 'userId' | 'arguments' | 'env' | 'tags'> {
  /**
   * Definitions that the tool can reach (`invokeTool`, `loadPrompt` and the like): a folder that holds `agents/`, or
   * definitions made in code. Default: none.
   */
  readonly project?: string | URL | Registry;
  /** Name of the tool in the project; its `uses`, variables and options then apply. */
  readonly tool?: string;
  /** Value of `state.options`. Default: the options of the tool's entry in its prompt. */
  readonly options?: UnknownFields;
  /** Initial content of `state.context`. */
  readonly scratch?: Readonly<Scratch>;
}

/** A tool that the code under test has queued; in a real thread it would run next. */
export interface TestQueuedTool {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface TestState extends ThreadState {
  /** Tools queued with `queueTool`, in order. Queued messages are among those of `getMessages`. */
  readonly queuedTools: readonly TestQueuedTool[];
  /** Fires `execution.abortSignal`, as a stop does. */
  abort(reason?: unknown): void;
  /** Closes the store and removes it. Idempotent. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Default agent name of a state without a project. */
const AGENT = 'test';
const NOTHING: Registry = {
  agents: new Map(),
  prompts: new Map(),
  models: new Map(),
  tools: new Map(),
  hooks: new Map(),
  effects: new Map(),
  policies: new Map(),
  mcpServers: new Map(),
  a2aAgents: new Map(),
  tasks: new Map(),
  manifests: new Map(),
  endpoints: new Map(),
};

export async function openTestState(options: TestStateOptions): Promise<TestState> {
  const { project, scratch = {}, options: entry } = options;
  const registry = project === undefined ? NOTHING : (await openTestProject(project)).registry;
  const agent = project === undefined ? (options.agent ?? AGENT) : chooseAgent(registry, options.agent);
  const tool = options.tool === undefined ? undefined : requireTool(registry, options.tool);
  const { store, remove } = await openTemporaryStore();
  const sandbox = createSandbox({ size: 1 });
  const close = async () => {
    // The sandbox closes before the store, to which its runs may still report.
    await sandbox.close().finally(remove);
  };
  try {
    const thread = await openThread(store, agent, options);
    const aborting = new AbortController();
    const queuedTools: TestQueuedTool[] = [];
    const key = `${thread.id}:1:0`;
    const place = { thread, key, signal: aborting.signal, work: openSink(store, thread.id, queuedTools) };
    const code = openAuthorCode({ store, sandbox, registry: () => registry }, place);
    const state = await code.openState({
      tool,
      idempotencyKey: key,
      execution: {
        executionId: randomUUID(),
        step: 1,
        stepCount: 1,
        sideSteps: { a: 1, b: 0 },
        side: 'a',
        prompt: findActiveSide(registry, agent)?.prompt,
        subprompt: null,
        runContext: null,
        history: [],
        flow: { directive: undefined, scratch: { ...scratch } },
      },
    });
    let closed: Promise<void> | undefined;
    const closeOnce = () => {
      isClosed();
      code.close();
      closed ??= close();
      return closed;
    };
    const isClosed = closeWithTests(closeOnce);
    const own = {
      ...(entry === undefined ? {} : { options: entry }),
      queuedTools,
      abort: (reason?: unknown) => aborting.abort(reason),
      close: closeOnce,
      [Symbol.asyncDispose]: closeOnce,
    };
    // Copies property descriptors: a spread would evaluate the getters.
    const members = { ...Object.getOwnPropertyDescriptors(state), ...Object.getOwnPropertyDescriptors(own) };
    return Object.freeze(Object.defineProperties({}, members)) as TestState;
  } catch (error) {
    await close();
    throw error;
  }
}

async function openThread(
  store: ThreadStore,
  agent: string,
  { userId, arguments: given = {}, env = {}, tags = [] }: TestStateOptions,
): Promise<ThreadRecord> {
  const threadId = newThreadId(agent);
  const opened = await store.threads.open({
    threadId,
    runId: randomUUID(),
    agent,
    userId: userId ?? null,
    arguments: given,
    tags,
    parentId: null,
    rootId: threadId,
    mustExist: false,
  });
  if (opened.kind !== 'open')
    throw new RuntimeError('ThreadTerminated', `The thread "${threadId}" has ended.`);
  for (const [name, variable] of Object.entries(env)) {
    const { value, type } = typeof variable === 'string' ? { value: variable, type: undefined } : variable;
    await store.env.set({ owner: { thread: threadId }, name, value, type });
  }
  return opened.thread;
}

/** Queues messages in the store, as a worker does, and tools in `queued`; there is no workflow to wake. */
function openSink(store: ThreadStore, threadId: string, queued: TestQueuedTool[]): WorkSink {
  return {
    queueMessage: (item) => store.queue.add(threadId, item, { own: true }),
    queueTool: ({ name, arguments: args }) => void queued.push({ name, arguments: args }),
    terminate: () => store.threads.terminate(threadId, 'state.terminate'),
    wakeForEffects: async () => undefined,
    wake: async () => undefined,
    noteTold: () => undefined,
    reach: (other) => openSink(store, other, queued),
  };
}

function requireTool({ tools }: Registry, name: string): ToolDefinition {
  const found = tools.get(name);
  if (found) return found;
  const names = [...tools.keys()];
  const meant = didYouMean(name, names) || ` It has: ${names.join(', ') || 'none'}.`;
  throw new RuntimeError('DefinitionNotFound', `The project has no tool "${name}".${meant}`);
}
