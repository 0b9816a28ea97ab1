/**
 * `runEffects`: runs the due effects of a thread one after another (definitions §10), until none is due, something has
 * been queued, or the batch is large enough. The workflow then asks again, and can run a step in between if there is
 * work for one. An effect that is cut off stays begun in the store, and the next batch runs it again.
 */

import { retryWhileUnavailable } from '../../author/guard/retry-while-unavailable.ts';
import type { RunEffectsInput, RunEffectsOutcome, RunRef, StoredError } from '../../core/thread/step.ts';
import { errorMessage, isRuntimeError } from '../../core/value/error.ts';
import type { BegunEffect, EndEffect, EndedEffect } from '../../store/effect/effect-record.ts';
import type { FromRun } from '../../store/transaction/from-run.ts';
import { runUnit } from '../author/unit.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortError, abortSignal, isTransient } from '../base/guard.ts';
import { fromRun } from '../base/run-ref.ts';
import { executeEffect } from './execute-effect.ts';

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
    const begun = await store.effects.begin({ ...run, ...(alone && { mayLose: Number.POSITIVE_INFINITY }) });
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
