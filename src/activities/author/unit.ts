/**
 * A unit of an author's work: a tool call, a model step, a sub-prompt, an effect, a phase of a task. It is what may take its worker process down, and what
 * is then tried again, alone, or given up.
 * U1. Its key is the same in every attempt. It is told to whoever keeps a journal before it begins (state/author-run.ts).
 * U2. Whether it is suspect is asked when it is tried again: what runs once costs no statement.
 * U3. Of work that merely ran when a process fell nothing is given up, however often that happens.
 */

import type { StoredError } from '../../core/thread/step.ts';
import { LIMITS } from '../../core/value/limit.ts';
import { type AuthorRun, runAuthorCode } from '../../state/author-run.ts';
import type { Strike } from '../../store/port/strike.ts';
import type { ActivityDependencies, LoneActivity } from '../base/dependencies.ts';

export interface UnitAttempt<T> {
  readonly unit: AuthorRun;
  /** It may have begun before. */
  readonly repeated: boolean;
  /** As a lone process is asked for it. */
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
  // U2: asked only of a repeated unit.
  const strike = repeated || suspects?.has(unit.work) ? await store.strikes.read(unit.work) : null;
  const plan = lone ? 'here' : planUnit(strike, alone !== undefined);
  if (plan === 'give_up') return givenUp(toError(unit, strike as Strike));
  // What it comes to there clears it there.
  if (plan === 'alone' && alone) return (await alone(activity, input, unit)) as T;
  const result = await runAuthorCode(unit, here);
  if (strike) await store.strikes.clear(unit.work);
  return result;
}

const KINDS: Readonly<Record<string, string>> = {
  model: 'model step',
  task: 'phase',
  run_code: 'tool',
  subprompt: 'sub-prompt',
};

function toError({ threadId, code, name }: AuthorRun, strike: Strike): StoredError {
  const unit = `The ${KINDS[code] ?? code} "${name}" of thread ${threadId}`;
  const within =
    strike.name === name ? '' : ` (in the ${KINDS[strike.code] ?? strike.code} "${strike.name}")`;
  const message = `${unit} has taken its worker process down ${times(strike.strikes)}${within} and is not tried again.`;
  return { code: 'WorkerCrashed', message };
}

function times(count: number): string {
  return count === 3 ? 'three times' : `${count} times`;
}
