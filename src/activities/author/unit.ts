/**
 * A unit of author work: a tool call, a model step, a sub-prompt, an effect, a phase of a task. A unit may take its
 * worker process down; it is then retried, run in a lone process, or given up.
 * - A unit's key is the same in every attempt. It is reported to a journal, if one is kept, before the unit begins
 *   (author/guard/author-run.ts).
 * - Strikes are read only when a unit is retried: a unit that runs once costs no statement.
 * - A unit that merely ran when a process died is never given up, however often that happens.
 */

import { ApplicationFailure } from '@temporalio/common';
import { type AuthorRun, runAuthorCode } from '../../author/guard/author-run.ts';
import type { StoredError } from '../../core/thread/step.ts';
import { LIMITS } from '../../core/value/limit.ts';
import type { Strike } from '../../store/tool/tool-record.ts';
import type { ActivityDependencies, ActivityRun, LoneActivity } from '../base/dependencies.ts';
import { isRepeated } from '../base/run-ref.ts';

/** An activity that is a unit as a whole. */
export interface UnitActivity<Input, Outcome> {
  readonly run: ActivityRun<Input, Outcome>;
  readonly unit: (input: Input) => AuthorRun;
  readonly giveUp: (dependencies: ActivityDependencies, input: Input, error: StoredError) => Promise<Outcome>;
}

export function asUnit<Input, Outcome>(
  { unit, giveUp }: Omit<UnitActivity<Input, Outcome>, 'run'>,
  activity: LoneActivity,
  run: ActivityRun<Input, Outcome>,
): ActivityRun<Input, Outcome> {
  return (dependencies, input) =>
    runUnit(dependencies, {
      unit: unit(input),
      repeated: isRepeated(),
      activity,
      input,
      here: () => run(dependencies, input),
      givenUp: (error) => giveUp(dependencies, input, error),
    });
}

/** For a unit whose workflow then fails the step, or ends the call with the error code. */
export async function failPermanently(_: object, __: object, { code, message }: StoredError): Promise<never> {
  throw ApplicationFailure.nonRetryable(message, code);
}

export interface UnitAttempt<T> {
  readonly unit: AuthorRun;
  /** True if the unit may have begun before. */
  readonly repeated: boolean;
  /** The activity to request from a lone process. */
  readonly activity: LoneActivity;
  readonly input: unknown;
  readonly here: () => Promise<T>;
  readonly givenUp: (error: StoredError) => Promise<T>;
}

export type UnitPlan = 'here' | 'alone' | 'give_up';

export function planUnit(strike: Strike | null, canBeAlone: boolean): UnitPlan {
  if (!strike) return 'here';
  if (strike.strikes >= LIMITS.strikes) return 'give_up';
  return canBeAlone ? 'alone' : 'here';
}

export async function runUnit<T>(
  { store, alone, suspects, lone = false }: ActivityDependencies,
  { unit, repeated, activity, input, here, givenUp }: UnitAttempt<T>,
): Promise<T> {
  // Asked only of a repeated unit.
  const strike = repeated || suspects?.has(unit.work) ? await store.strikes.read(unit.work) : null;
  const plan = lone ? 'here' : planUnit(strike, alone !== undefined);
  if (plan === 'give_up') return givenUp(toError(unit, strike as Strike));
  // The lone process clears the strikes itself.
  if (plan === 'alone' && alone) return (await alone(activity, input, unit)) as T;
  const result = await runAuthorCode(unit, here);
  if (strike) await store.strikes.clear(unit.work);
  return result;
}

const UNIT_LABELS: Readonly<Record<string, string>> = {
  model: 'model step',
  task: 'phase',
  run_code: 'tool',
  subprompt: 'sub-prompt',
};

function toError({ threadId, code, name }: AuthorRun, strike: Strike): StoredError {
  const unit = `The ${UNIT_LABELS[code] ?? code} "${name}" of thread ${threadId}`;
  const within =
    strike.name === name ? '' : ` (in the ${UNIT_LABELS[strike.code] ?? strike.code} "${strike.name}")`;
  const message = `${unit} has crashed its worker process ${describeCount(strike.strikes)}${within} and is not retried.`;
  return { code: 'WorkerCrashed', message };
}

function describeCount(count: number): string {
  return count === 3 ? 'three times' : `${count} times`;
}
