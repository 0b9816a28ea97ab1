/**
 * `runEffects`: the effects of a thread that are due, one after another (definitions §10), until none is, something has been queued,
 * or the batch is large enough: the workflow asks again, and has a step to take in between where there is work for one.
 * An effect that is cut off stays begun in the store, and whoever asks next runs it again.
 */
import type { RunEffectsInput, RunEffectsOutcome } from '../../core/thread/effect-batch.ts';
import type { RunRef, StoredError } from '../../core/thread/step.ts';
import { errorMessage, isRuntimeError } from '../../core/value/error.ts';
import { retryWhileUnavailable } from '../../state/retry-while-unavailable.ts';
import type { BegunEffect, EndEffect, EndedEffect } from '../../store/port/effect.ts';
import type { FromRun } from '../../store/port/run.ts';
import { runUnit } from '../author/unit.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortError, abortSignal, isPassing } from '../base/guard.ts';
import { fromRun } from '../base/run-ref.ts';
import { executeEffect } from './execute-effect.ts';

const BATCH = 50;
const BATCH_MS = 60_000;

export async function runEffects(
  dependencies: ActivityDependencies,
  { most = BATCH, ...input }: RunEffectsInput,
): Promise<RunEffectsOutcome> {
  // Where strikes are counted, they decide.
  const { store, leaving, probe, alone } = dependencies;
  const run = fromRun(store, input);
  const deadline = performance.now() + BATCH_MS;
  const before = await store.queue.count(input.threadId);
  let [ran, waiting] = [0, 0];
  // A worker that must go begins nothing more; what is left is another one's.
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
    // Somebody took this worker for lost and runs the thread's effects: two would take them from one another.
    if (ended.kind === 'late') break;
    // It is the thread's turn: by the effect itself, or by anybody else, it has been given work.
    if (waiting > before) break;
  }
  if (ran === 0) throw abortError(leaving);
  return { kind: 'done', ran, waiting };
}

type Begun = Extract<BegunEffect, { kind: 'run' }>;

/** What a lone process is told of an effect: its run, and how it was begun. */
export interface BegunEffectInput extends RunRef {
  readonly begun: Begun;
}

/** Only in a lone process; elsewhere effects come in their order. */
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
    // The handler has run. What cannot be stored of it is told as that, and not as a lost worker.
    if (isPassing(failure, signal)) throw failure;
    const code = isRuntimeError(failure) ? failure.code : 'EffectFailed';
    const message = `It has run, and its end could not be stored: ${errorMessage(failure)}`;
    return end({ error: { code, message }, queuedTools: [] });
  });
}
