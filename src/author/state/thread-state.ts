/**
 * Builds the ThreadState that author code receives from its parts. What differs between a tool, a hook, an effect and
 * an endpoint is defined by the caller's context.
 */

import { checkPage } from '../../core/author/read-options.ts';
import type { Registry, ToolDefinition } from '../../core/author/registry.ts';
import type { ThreadState } from '../../core/author/thread-state.ts';
import type { EventData } from '../../core/event/thread-event.ts';
import { findActiveSide } from '../../core/project/active-side.ts';
import { LIMITS, utf8Length } from '../../core/value/limit.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import { createQuestions } from '../policy/ask.ts';
import { createOwnActions } from '../policy/own-action.ts';
import { freezeDeep } from '../tool/freeze-deep.ts';
import type { CallerContext } from './caller-context.ts';
import type { StateDependencies } from './dependencies.ts';
import { createEffects } from './effects.ts';
import { createExecution } from './execution.ts';
import { createFamily, loadChildren } from './family.ts';
import { createThreadFiles } from './files.ts';
import { createIds } from './id.ts';
import { createLifecycle } from './lifecycle.ts';
import { createLoaders } from './loaders.ts';
import { createMessages } from './messages.ts';
import { type RelativeFrom, toRelative } from './relative.ts';
import type { StateParts } from './state-parts.ts';
import type { ThreadEnv } from './thread-env.ts';
import { createTools } from './tools.ts';
import { createThreadValues } from './values.ts';

export function createThreadState(
  dependencies: StateDependencies,
  given: CallerContext,
  { env, runCode }: StateParts,
): ThreadState {
  const { store } = dependencies;
  const caller = { ...given, signal: AbortSignal.any([given.signal, given.life.signal]) };
  const { thread, tool, execution } = caller;
  const registry = dependencies.registry();
  const nextId = createIds(store, caller.key);
  const open = (relative: ThreadRecord, times: number) =>
    openRelative(dependencies, { ...caller, parts: { env, runCode } }, relative, times);
  const lifecycle = createLifecycle(store, caller);
  const optionsOf = readOptions(registry, caller);
  const state: ThreadState = {
    threadId: thread.id,
    agentId: thread.agent,
    userId: thread.userId,
    createdAt: thread.createdAt,
    get terminated() {
      return lifecycle.terminatedAt();
    },
    arguments: freezeDeep({ ...thread.arguments, ...execution?.subprompt?.arguments }),
    context: execution?.flow.scratch ?? {},
    execution: createExecution(registry, caller),
    idempotencyKey: caller.idempotencyKey ?? null,
    options: optionsOf(tool),
    emit: createEmitter(store, thread.id, env.redactKnown),
    getLogs: async (options) => store.events.getLogs(thread.id, checkPage(options)),
    runCode,
    _notPackableRuntimeContext: Object.freeze({ runtime: 'everthread' }),
    ...createMessages({ store, caller, nextId, redactKnown: env.redactKnown }),
    ...createTools({ store, registry, env, nextId, optionsOf, state: () => state }, caller),
    ...createOwnActions({ store, registry, env }, caller),
    ...createEffects({ store, registry, nextId, redactKnown: env.redactKnown }, caller),
    ...createThreadValues(store, caller),
    ...createThreadFiles(store, thread.id, env.redactKnown),
    ...createQuestions(caller.ask),
    ...createLoaders(registry),
    ...createFamily({ store, nextId, redactKnown: env.redactKnown, open }, caller),
    terminate: lifecycle.terminate,
    ...env.bind(tool),
  };
  return Object.freeze(state);
}

/** Opens the ThreadState of a parent or child, for code that has its own: shown at rest, even if that thread runs. */
export async function openRelative(
  dependencies: StateDependencies,
  from: RelativeFrom,
  thread: ThreadRecord,
  times = 0,
): Promise<ThreadState> {
  const { caller, parts } = toRelative(from, thread, times);
  const children = await loadChildren(dependencies.store, thread);
  return createThreadState(dependencies, { ...caller, children }, parts);
}

/** Returns a function that returns the options of a tool's entry in the active prompt. */
function readOptions(registry: Registry, { thread, execution }: CallerContext) {
  const prompt = execution?.prompt ?? findActiveSide(registry, thread.agent, thread.session.side)?.prompt;
  return (tool: ToolDefinition | undefined): ThreadState['options'] =>
    prompt?.tools.find(({ name }) => name === tool?.name)?.options ?? {};
}

/** Returns `emit`, which writes events in order and drops those that cannot be written. */
function createEmitter(
  store: ThreadStore,
  threadId: string,
  redactKnown: ThreadEnv['redactKnown'],
): ThreadState['emit'] {
  let last: Promise<unknown> = Promise.resolve();
  return (event, data) => {
    const shown = redactKnown(toShown(event, data));
    if (shown) last = last.then(() => store.events.append(threadId, shown)).catch(() => undefined);
  };
}

/** Copies the data at once, since the author may change it before it is written. */
function toShown(event: string, data: unknown) {
  try {
    const name = String(event).slice(0, 128);
    const text = JSON.stringify({ event: name, data: data ?? null });
    const bytes = utf8Length(text);
    if (bytes > LIMITS.emittedBytes)
      return { type: 'custom' as const, data: { event: name, data: null, omitted: bytes } };
    return { type: 'custom' as const, data: JSON.parse(text) as EventData['custom'] };
  } catch {
    return undefined;
  }
}
