/**
 * Runs the handler of one effect (definitions §10). Returns how the effect ended: an unknown name, arguments that its
 * schema refuses, a throw and a time-out are errors that are stored; none is thrown.
 */

import { withStack } from '../../author/guard/author-fault.ts';
import { runAuthorCode } from '../../author/guard/author-run.ts';
import { openAuthorCode } from '../../author/open-author-code.ts';
import type { ThreadEnv } from '../../author/state/thread-env.ts';
import { checkSchema } from '../../author/tool/check-schema.ts';
import type { EffectDefinition } from '../../core/author/effect.ts';
import type { ScheduledEffect } from '../../core/author/thread-effect.ts';
import type { ThreadState } from '../../core/author/thread-state.ts';
import { isRuntimeError } from '../../core/value/error.ts';
import { LIMITS } from '../../core/value/limit.ts';
import { errorMessage, errorStack } from '../../core/value/thrown.ts';
import type { EffectFault } from '../../store/effect/effect-record.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import type { QueuedTool } from '../../store/tool/tool-record.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { runUntilCut } from '../base/until-cut.ts';
import { toQueueError } from '../signals/relative-sink.ts';
import { openSink, type Sink } from '../signals/sink.ts';

export interface EffectExecution {
  readonly effect: ScheduledEffect;
  readonly thread: ThreadRecord;
  /** Cuts the handler off when it is aborted. */
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
}

export type ExecutedEffect =
  | {
      readonly kind: 'executed';
      readonly error?: EffectFault;
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
  // Ids of what the handler makes are derived from this key: the same for every attempt.
  const key = `${thread.id}:effect:${effect.id}`;
  const own = new AbortController();
  const sink = openSink(dependencies, thread.id, { own: false, effect: effect.id });
  const code = openAuthorCode(dependencies, {
    thread,
    key,
    signal: AbortSignal.any([signal, own.signal]),
    waits: signal,
    work: sink.work,
    metadata: { scheduledEffect: { id: effect.id, name: effect.name } },
  });
  try {
    const state = await code.openState();
    const ended = await runUntilCut(
      { signal, timeoutMs, own, late: () => timedOut(effect.name, timeoutMs) },
      async () =>
        (await runHandler(definition, state, { args: effect.args, work: key })) ?? (await settle(sink)),
    );
    // An error that is thrown because the handler was cut off says nothing about the handler.
    if (ended === 'aborted' || (ended && signal.aborted)) return { kind: 'aborted' };
    const { queuedTools } = sink.taken();
    if (!ended) return { kind: 'executed', queuedTools };
    return { kind: 'executed', error: await logFault(dependencies, execution, code.env, ended), queuedTools };
  } finally {
    code.close();
    sink.end();
  }
}

/** Returns the error as it is stored, and reports it to the log if the handler threw. */
async function logFault(
  { report }: ActivityDependencies,
  { effect: { name }, thread }: EffectExecution,
  env: ThreadEnv,
  { code, ...ended }: EffectFault,
): Promise<EffectFault> {
  const { error = '', stack } = await env.redact({
    status: 'error',
    error: ended.message,
    stack: ended.stack,
  });
  const failureText = withStack(error.slice(0, ERROR_CHARS), stack);
  if (stack !== undefined) report?.({ code: 'effect', name, threadId: thread.id, ...failureText });
  return {
    code,
    message: failureText.error,
    ...(failureText.stack === undefined ? {} : { stack: failureText.stack }),
  };
}

/** Waits until what the handler queued to other threads is stored, before the effect ends. */
async function settle(sink: Sink): Promise<EffectFault | undefined> {
  try {
    return void (await sink.settle());
  } catch (error) {
    const { code, message } = toQueueError(error);
    return { code, message };
  }
}

function timedOut(name: string, timeoutMs: number): EffectFault {
  const message = `"${name}" did not end within ${timeoutMs} ms; it may or may not have taken effect.`;
  return { code: 'Timeout', message };
}

/**
 * Arguments are checked now, not when the effect was scheduled, since the present handler receives them. `work` is as
 * in `AuthorRun`.
 */
async function runHandler(
  { name, args: schema, execute: handler }: EffectDefinition,
  state: ThreadState,
  { args: given, work }: { args: Readonly<Record<string, unknown>>; work: string },
): Promise<EffectFault | undefined> {
  try {
    // The definition types `args` as never, because each effect has its own.
    const execute = handler as (state: ThreadState, args?: unknown) => unknown;
    const run = { code: 'effect', name, threadId: state.threadId, work } as const;
    if (!schema) return void (await runAuthorCode(run, () => execute(state)));
    const checked = await checkSchema(schema, given);
    if (checked.ok) return void (await runAuthorCode(run, () => execute(state, checked.value)));
    return {
      code: 'InvalidValue',
      message: `The arguments of the effect "${name}" do not match its schema: ${checked.problems}`,
    };
  } catch (error) {
    const stack = errorStack(error);
    const code = isRuntimeError(error) ? error.code : 'EffectFailed';
    return { code, message: errorMessage(error), ...(stack === undefined ? {} : { stack }) };
  }
}

function notDefined({ name }: ScheduledEffect): EffectFault {
  return {
    code: 'EffectNotFound',
    message: `The project no longer defines the effect "${name}"; it was defined when this one was scheduled.`,
  };
}
