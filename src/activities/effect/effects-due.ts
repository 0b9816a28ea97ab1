/**
 * Adds to an activity's answer when the thread's next effect is due (core/thread/step.ts, EffectsDue). Code within any of them may
 * have scheduled one; the workflow hears of it by the answer, and needs no signal.
 */
import type { EffectsDue } from '../../core/thread/effect-batch.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import type { Activity } from '../base/guard.ts';

export interface TellOptions {
  /**
   * Also where the project defines no effects: for those that were scheduled when it did. Else such a project pays for no
   * look.
   */
  readonly always?: boolean;
  /** A new workflow run: what another run began counts as due, since nobody may be running it any more. */
  readonly begun?: boolean;
}

export function tellEffects<Input extends { readonly threadId: string }, Output>(
  { store, registry }: Pick<ActivityDependencies, 'store' | 'registry'>,
  run: Activity<Input, Output>,
  { always = false, begun = false }: TellOptions = {},
): Activity<Input, Output & EffectsDue> {
  return async (input) => {
    const answer = (await run(input)) as Output & EffectsDue;
    if (!always && !mayDefineEffects(registry)) return answer;
    const effectsInMs = await store.effects.next(input.threadId, { begun });
    return effectsInMs === null ? answer : { ...answer, effectsInMs };
  };
}

/** What the activity did is done: a project that cannot be read must not make a failure of it. */
function mayDefineEffects(registry: ActivityDependencies['registry']): boolean {
  try {
    return registry().effects.size > 0;
  } catch {
    return true;
  }
}
