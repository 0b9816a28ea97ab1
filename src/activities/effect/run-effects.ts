/**
 * `runEffects`: runs the due effects of a thread one after another (definitions §10), until none is due, something has
 * been queued, or the batch is large enough. The workflow then asks again, and can run a step in between if there is
 * work for one. An effect that is cut off stays begun in the store, and the next batch runs it again.
 */

import { withStack } from '../../author/guard/author-fault.ts';
import { runAuthorCode } from '../../author/guard/author-run.ts';
import { retryWhileUnavailable } from '../../author/guard/retry-while-unavailable.ts';
import { openAuthorCode } from '../../author/open-author-code.ts';
import type { ThreadEnv } from '../../author/state/thread-env.ts';
import { checkSchema } from '../../author/tool/check-schema.ts';
import type { EffectDefinition } from '../../core/author/effect.ts';
import type { ScheduledEffect } from '../../core/author/thread-effect.ts';
import type { ThreadState } from '../../core/author/thread-state.ts';
import type { RunEffectsInput, RunEffectsOutcome, RunRef, StoredError } from '../../core/thread/step.ts';
import { isRuntimeError } from '../../core/value/error.ts';
import { LIMITS } from '../../core/value/limit.ts';
import { errorMessage, errorStack } from '../../core/value/thrown.ts';
import type { BegunEffect, EffectFault, EndEffect, EndedEffect } from '../../store/effect/effect-record.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import type { QueuedTool } from '../../store/tool/tool-record.ts';
import type { FromRun } from '../../store/transaction/from-run.ts';
import { runUnit } from '../author/unit.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortError, abortSignal, isTransient } from '../base/guard.ts';
import { fromRun } from '../base/run-ref.ts';
import { runUntilCut } from '../base/until-cut.ts';
import { toQueueError } from '../signals/relative-sink.ts';
import { openSink, type Sink } from '../signals/sink.ts';

const BATCH = 50;
const BATCH_MS = 60_000;

export async function runEffects(
  dependencies: ActivityDependencies,
  { most = BATCH, ...input }: RunEffectsInput,
): Promise<RunEffectsOutcome> {
  // If strikes are counted (`alone`), they decide when an effect is given up, not the number of lost workers.
  const { store, leaving, probe, alone } = dependencies;
  const run = fromRun(store, input);
  const deadline = performance.now() + BATCH_MS;
  const before = await store.queue.count(input.threadId);
  let [ran, waiting] = [0, 0];
  // A worker that is shutting down begins nothing more; another worker runs the rest.
  while (ran < most && performance.now() < deadline && !leaving.aborted) {
    const begun = await store.effects.begin({ ...run, mayLose: alone && Number.POSITIVE_INFINITY });
    if (begun.kind === 'terminated') return begun;
    if (begun.kind === 'none') return { kind: 'done', ran, waiting: begun.waiting };
    await probe?.('effect_begun');
    const ended = await runOne(dependencies, input, begun);
    if (ended.kind === 'terminated') return ended;
    if (ended.kind === 'stored') waiting = ended.waiting;
    ran += 1;
    await probe?.('effect_done');
    // Another worker has taken this one for lost and runs the thread's effects: two workers would take them from one
    // another.
    if (ended.kind === 'late') break;
    // The effect, or another sender, has given the thread work, which comes first.
    if (waiting > before) break;
  }
  if (ran === 0) throw abortError(leaving);
  return { kind: 'done', ran, waiting };
}

type Begun = Extract<BegunEffect, { kind: 'run' }>;

/** Input of a lone process for an effect: its run, and how it was begun. */
export interface BegunEffectInput extends RunRef {
  readonly begun: Begun;
}

/** Called only in a lone process; elsewhere effects run in their order. */
export function runBegunEffect(
  dependencies: ActivityDependencies,
  { begun, ...run }: BegunEffectInput,
): Promise<EndedEffect> {
  return runOne(dependencies, run, begun);
}

function runOne(dependencies: ActivityDependencies, run: RunRef, begun: Begun): Promise<EndedEffect> {
  const { effect, attempt } = begun;
  const { threadId } = run;
  const end = (error: StoredError): Promise<EndedEffect> =>
    dependencies.store.effects.end({
      ...fromRun(dependencies.store, run),
      id: effect.id,
      attempt,
      error,
      queuedTools: [],
    });
  return runUnit(dependencies, {
    unit: { code: 'effect', name: effect.name, threadId, work: `${threadId}:effect:${effect.id}` },
    repeated: attempt > 1,
    activity: 'runEffect',
    input: { threadId, storeId: run.storeId, begun } satisfies BegunEffectInput,
    here: () => runHandler(dependencies, fromRun(dependencies.store, run), begun),
    givenUp: end,
  });
}

async function runHandler(
  dependencies: ActivityDependencies,
  run: FromRun,
  { effect, thread, attempt }: Begun,
): Promise<EndedEffect> {
  // Like a tool, a handler is not handed over at once: it has its grace period, then the worker cancels it.
  const signal = abortSignal();
  const executed = await executeEffect(dependencies, { effect, thread, signal });
  if (executed.kind === 'aborted') throw abortError();
  const { error, queuedTools } = executed;
  const end = (ended: Pick<EndEffect, 'error' | 'queuedTools'>) =>
    retryWhileUnavailable(signal, () =>
      dependencies.store.effects.end({ ...run, id: effect.id, attempt, ...ended }),
    );
  return end({ error, queuedTools }).catch((failure: unknown) => {
    // The handler has run. If its end cannot be stored, that is the stored error, and not a lost worker.
    if (isTransient(failure, signal)) throw failure;
    const code = isRuntimeError(failure) ? failure.code : 'EffectFailed';
    const message = `It has run, but its end could not be stored: ${errorMessage(failure)}`;
    return end({ error: { code, message }, queuedTools: [] });
  });
}

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

/**
 * Runs the handler of one effect. Returns how the effect ended: an unknown name, arguments that its schema refuses, a throw
 * and a time-out are errors that are stored; none is thrown.
 */
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
        (await callHandler(definition, state, { args: effect.args, work: key })) ?? (await settle(sink)),
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
    stack: failureText.stack,
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
async function callHandler(
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
    return { code, message: errorMessage(error), stack };
  }
}

function notDefined({ name }: ScheduledEffect): EffectFault {
  return {
    code: 'EffectNotFound',
    message: `The project no longer defines the effect "${name}"; it was defined when this one was scheduled.`,
  };
}
