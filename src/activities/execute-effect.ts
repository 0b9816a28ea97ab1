/**
 * Runs the handler of one effect (definitions §10). Whatever it does, the answer is how the effect ended: an unknown name,
 * arguments that its schema refuses, a throw and a time-out are errors that are kept, and nobody's exception.
 */
import type { EffectDefinition, ScheduledEffect } from '../core/effect.ts';
import { errorMessage, isRuntimeError } from '../core/error.ts';
import { LIMITS } from '../core/limit.ts';
import type { StoredError } from '../core/step.ts';
import type { ThreadState } from '../core/thread-state.ts';
import { describeIssues } from '../state/check-arguments.ts';
import { openEnv } from '../state/env.ts';
import { loadChildren } from '../state/family.ts';
import { openMessageHooks } from '../state/hooks/runner.ts';
import type { HooksOf } from '../state/origin.ts';
import { createThreadState } from '../state/thread-state.ts';
import type { ThreadRecord } from '../store/thread-port.ts';
import type { QueuedTool } from '../store/tool-port.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { notTaken } from './relative-sink.ts';
import { openSink, type Sink } from './sink.ts';
import { withinTime } from './within-time.ts';

export interface EffectExecution {
  readonly effect: ScheduledEffect;
  readonly thread: ThreadRecord;
  /** Cuts the handler off. */
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
}

export type ExecutedEffect =
  | {
      readonly kind: 'executed';
      readonly error?: StoredError;
      readonly queuedTools: readonly QueuedTool[];
    }
  | { readonly kind: 'aborted' };

const ERROR_CHARS = 4000;

export async function executeEffect(
  dependencies: ActivityDependencies,
  execution: EffectExecution,
): Promise<ExecutedEffect> {
  const { effect, thread, signal, timeoutMs = LIMITS.effectMs } = execution;
  const definition = dependencies.registry().effects.get(effect.name);
  if (!definition) return { kind: 'executed', error: notDefined(effect), queuedTools: [] };
  const env = openEnv(dependencies, thread, { signal });
  const own = new AbortController();
  const within = AbortSignal.any([signal, own.signal]);
  // Code that the handler runs lives as long as the handler, however that ends.
  const scope = dependencies.sandbox.scope({ signal: within, tenant: thread.rootId });
  const sink = openSink(dependencies, thread.id);
  const parts = { env, runCode: scope.runCode };
  const place = {
    thread,
    // Ids of what it makes come from here: the same for every attempt.
    key: `${thread.id}:effect:${effect.id}`,
    signal: within,
    work: sink.work,
    metadata: { scheduledEffect: { id: effect.id, name: effect.name } },
  };
  const hooksOf: HooksOf = (at) => openMessageHooks(dependencies, at);
  const hooks = hooksOf({ ...place, parts });
  try {
    const children = await loadChildren(dependencies.store, thread);
    const origin = { ...place, execution: null, hooks, hooksOf, children };
    const state = createThreadState(dependencies, origin, parts);
    const ended = await withinTime(
      { signal, timeoutMs, own, late: () => timedOut(effect.name, timeoutMs) },
      async () => (await runHandler(definition, state, effect.args)) ?? (await settle(sink)),
    );
    // What a handler throws because it was cut off says nothing about it.
    if (ended === 'aborted' || (ended && signal.aborted)) return { kind: 'aborted' };
    const { queuedTools } = sink.taken();
    if (!ended) return { kind: 'executed', queuedTools };
    const { error = '' } = await env.redact({ status: 'error', error: ended.message });
    // Redacted before it is cut: half a secret would not be found.
    const message = error.slice(0, ERROR_CHARS);
    return { kind: 'executed', error: { code: ended.code, message }, queuedTools };
  } finally {
    scope.close();
    sink.end();
  }
}

/** What the handler queued to other threads is there before the effect has ended. */
async function settle(sink: Sink): Promise<StoredError | undefined> {
  try {
    return void (await sink.settle());
  } catch (error) {
    const { code, message } = notTaken(error);
    return { code, message };
  }
}

function timedOut(name: string, timeoutMs: number): StoredError {
  const message = `"${name}" did not end within ${timeoutMs} ms; it may or may not have taken effect.`;
  return { code: 'Timeout', message };
}

/** Arguments are checked now, and not when the effect was scheduled: it is today's handler that takes them. */
async function runHandler(
  { name, args: schema, execute: handler }: EffectDefinition,
  state: ThreadState,
  given: Readonly<Record<string, unknown>>,
): Promise<StoredError | undefined> {
  try {
    // The definition types `args` as never, because each effect has its own.
    const execute = handler as (state: ThreadState, args?: unknown) => unknown;
    if (!schema) return void (await execute(state));
    const parsed = schema.safeParse(given);
    if (parsed.success) return void (await execute(state, parsed.data));
    return {
      code: 'InvalidValue',
      message: `The arguments of the effect "${name}" are not what its schema asks for: ${describeIssues(parsed.error.issues)}`,
    };
  } catch (error) {
    return { code: isRuntimeError(error) ? error.code : 'EffectFailed', message: errorMessage(error) };
  }
}

function notDefined({ name }: ScheduledEffect): StoredError {
  return {
    code: 'EffectNotFound',
    message: `The project defines no effect "${name}" now; it was defined when this one was scheduled.`,
  };
}
