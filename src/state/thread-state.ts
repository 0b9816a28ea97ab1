/**
 * The ThreadState that code of a project is given, put together from its parts. What differs between a tool, a
 * hook, an effect and an endpoint is told by the origin.
 */
import { findActiveSide } from '../core/active-side.ts';
import type { RunCode } from '../core/code-execution.ts';
import type { EventData } from '../core/thread-event.ts';
import type { ThreadState } from '../core/thread-state.ts';
import type { ThreadRecord, ThreadStore } from '../store/port/thread-store.ts';
import type { StateDependencies } from './dependencies.ts';
import { createEffects } from './effects.ts';
import type { ThreadEnv } from './env.ts';
import { createExecution } from './execution.ts';
import { createFamily, loadChildren } from './family.ts';
import { createThreadFiles } from './files.ts';
import { createIds } from './id.ts';
import { createLoaders } from './loaders.ts';
import { createMessages } from './messages.ts';
import type { StateOrigin } from './origin.ts';
import { type RelativeFrom, toRelative } from './relative.ts';
import { createTools } from './tools.ts';
import { createThreadValues } from './values.ts';

export interface StateParts {
  readonly env: ThreadEnv;
  readonly runCode: RunCode;
}

export function createThreadState(
  dependencies: StateDependencies,
  origin: StateOrigin,
  { env, runCode }: StateParts,
): ThreadState {
  const { store } = dependencies;
  const { thread, tool, execution } = origin;
  const registry = dependencies.registry();
  const nextId = createIds(store, origin.key);
  const open = (relative: ThreadRecord, times: number) =>
    openRelative(dependencies, { ...origin, parts: { env, runCode } }, relative, times);
  const prompt = execution?.prompt ?? findActiveSide(registry, thread.agent, thread.session.side)?.prompt;
  const state: ThreadState = {
    threadId: thread.id,
    agentId: thread.agent,
    userId: thread.userId,
    createdAt: thread.createdAt,
    terminated: thread.terminatedAt,
    arguments: execution?.subprompt?.arguments ?? thread.arguments,
    context: execution?.flow.scratch ?? {},
    execution: createExecution(registry, origin),
    idempotencyKey: origin.idempotencyKey ?? null,
    options: prompt?.tools.find(({ name }) => name === tool?.name)?.options ?? {},
    emit: createEmitter(store, thread.id, env.redactKnown),
    getLogs: (options) => store.getLogs(thread.id, options),
    runCode,
    _notPackableRuntimeContext: Object.freeze({ runtime: 'everthread' }),
    ...createMessages({ store, origin, nextId, redactKnown: env.redactKnown }),
    ...createTools({ store, registry, env, nextId, state: () => state }, origin),
    ...createEffects({ store, registry, nextId, redactKnown: env.redactKnown }, origin),
    ...createThreadValues(store, thread.id),
    ...createThreadFiles(store, thread.id, env.redactKnown),
    ...createLoaders(registry),
    ...createFamily({ store, nextId, redactKnown: env.redactKnown, open }, origin),
    ...env.bind(tool),
  };
  return Object.freeze(state);
}

/** The ThreadState of a parent or a child, for code that has one of its own: at rest, whatever that thread does. */
export async function openRelative(
  dependencies: StateDependencies,
  from: RelativeFrom,
  thread: ThreadRecord,
  times = 0,
): Promise<ThreadState> {
  const { origin, parts } = toRelative(from, thread, times);
  const children = await loadChildren(dependencies.store, thread);
  return createThreadState(dependencies, { ...origin, children }, parts);
}

/** In order, and best effort: what cannot be written is dropped. */
function createEmitter(
  store: ThreadStore,
  threadId: string,
  redactKnown: ThreadEnv['redactKnown'],
): ThreadState['emit'] {
  let last: Promise<unknown> = Promise.resolve();
  return (event, data) => {
    const shown = redactKnown(toShown(event, data));
    if (shown) last = last.then(() => store.appendEvent(threadId, shown)).catch(() => undefined);
  };
}

/** Taken now: the author may change the data before it is written. */
function toShown(event: string, data: unknown) {
  try {
    const text = JSON.stringify({ event: String(event).slice(0, 128), data: data ?? null });
    return { type: 'custom' as const, data: JSON.parse(text) as EventData['custom'] };
  } catch {
    return undefined;
  }
}
