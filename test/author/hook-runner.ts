/** For tests: a hook runner with a new thread, for any hooks in any lists; and values to run hooks on. */

import { openLife } from '../../src/author/guard/life.ts';
import { type HookRunner, openHooks } from '../../src/author/hooks/runner.ts';
import { openEnv } from '../../src/author/state/env.ts';
import type { RunningExecution } from '../../src/author/state/running-execution.ts';
import type { WorkSink } from '../../src/author/state/work-sink.ts';
import type { HookDefinition, HookName } from '../../src/core/author/hook.ts';
import type { ThreadState } from '../../src/core/author/thread-state.ts';
import type { ContextMessage } from '../../src/core/context/context.ts';
import { fillMessage, type Message, type ToolCall, type ToolResult } from '../../src/core/message/message.ts';
import {
  defineAgent,
  defineHook,
  defineModel,
  definePrompt,
  registryFrom,
} from '../../src/definitions/index.ts';
import { createSandbox } from '../../src/sandbox/index.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { openThread, type ThreadDriver } from '../contract/thread-driver.ts';
import { closeAfterTest, testStore } from '../support/runtime.ts';

// Bodies of hooks are untyped here: what they may return is what is tested.
export type Body = (state: ThreadState, ...given: never[]) => unknown;

export const hook = (name: HookName, id: string, execute: Body): HookDefinition =>
  defineHook({ hook: name, id, execute: execute as never });

export interface Options {
  /** Ids that the agent lists; all hooks, in order, if absent. */
  readonly agent?: readonly string[];
  readonly prompt?: readonly string[];
  readonly hookMs?: number;
  readonly signal?: AbortSignal;
  readonly execution?: () => Promise<RunningExecution>;
}

const NO_WORK: WorkSink = {
  queueMessage: async () => undefined,
  queueTool: () => undefined,
  terminate: async () => undefined,
  wakeForEffects: async () => undefined,
  wake: async () => undefined,
  noteTold: () => undefined,
  reach: () => NO_WORK,
};

export let store: ThreadStore;
export let thread: ThreadDriver;

/** Returns a hook runner for a new thread, which is then `thread`; `failures` reads what its hooks did wrong. */
export async function open(
  hooks: readonly HookDefinition[],
  { agent = hooks.map(({ name }) => name), prompt = [], hookMs, ...place }: Options = {},
): Promise<HookRunner> {
  store = await testStore();
  thread = await openThread(store);
  const registry = registryFrom({
    agents: [defineAgent({ name: 'helper', sideA: { prompt: 'main' }, hooks: [...agent] })],
    prompts: [
      definePrompt({
        name: 'main',
        toolDescription: 'the main prompt',
        prompt: 'You help.',
        model: 'scripted',
        hooks: [...prompt],
      }),
    ],
    models: [defineModel({ name: 'scripted', provider: scriptedModel([]).provider, model: 'scripted-1' })],
    hooks,
  });
  const sandbox = createSandbox();
  closeAfterTest(() => sandbox.close());
  const record = await store.threads.get(thread.id);
  if (!record) throw new Error('The thread should be there.');
  const signal = place.signal ?? new AbortController().signal;
  const dependencies = { store, registry: () => registry, sandbox, hookMs };
  const env = openEnv(dependencies, record, { signal });
  const { runCode } = sandbox.scope({ signal });
  return openHooks(dependencies, {
    ...place,
    thread: record,
    key: 'test',
    signal,
    life: openLife(),
    work: NO_WORK,
    parts: { env, runCode },
  });
}

/** The logged failures of hooks, without their stacks, which name files. */
export const failures = async () =>
  (await thread.events('hook.failed')).map(({ data: { stack: _, ...data } }) => data);

export const draft = (fields: Partial<Message> = {}): Message =>
  fillMessage({ id: 'm1', role: 'user', content: 'hello', ...fields });

export const stored = (fields: Partial<Message> = {}): Message => ({
  ...draft(),
  created_at: 1,
  status: 'completed',
  tool_status: null,
  ...fields,
});

export const contextMessage = (id: string, fields: Partial<ContextMessage> = {}): ContextMessage => ({
  ...stored({ id }),
  executionId: 'execution-0',
  step: 7,
  reasoning: 'because',
  ...fields,
});

export const CALL: ToolCall = { id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } };
export const SUCCESS: ToolResult = { status: 'success', result: 'r' };
export const FAILURE: ToolResult = { status: 'error', error: 'e' };
