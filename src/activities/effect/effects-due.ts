/**
 * Adds to an activity's result when the thread's next effect is due (core/thread/effect-batch.ts, EffectsDue). Code
 * within any activity may have scheduled one; the workflow learns of it from the result, and needs no signal.
 */
import type { EffectsDue } from '../../core/thread/effect-batch.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import type { Activity } from '../base/guard.ts';

export interface EffectsDueOptions {
  /**
   * Also reads the next effect if the project defines no effects, for those that were scheduled when it did. Otherwise
   * such a project costs no read.
   */
  readonly always?: boolean;
  /** For a new workflow run: an effect that another run began counts as due, since that run may be gone. */
  readonly begun?: boolean;
}

export function withEffectsDue<Input extends { readonly threadId: string }, Output>(
  { store, registry }: Pick<ActivityDependencies, 'store' | 'registry'>,
  run: Activity<Input, Output>,
  { always = false, begun = false }: EffectsDueOptions = {},
): Activity<Input, Output & EffectsDue> {
  return async (input) => {
    const answer = (await run(input)) as Output & EffectsDue;
    if (!always && !mayDefineEffects(registry)) return answer;
    const effectsInMs = await store.effects.next(input.threadId, { begun });
    return effectsInMs === null ? answer : { ...answer, effectsInMs };
  };
}

/** Also true if the project cannot be read: the activity's work is done, and must not fail because of that. */
function mayDefineEffects(registry: ActivityDependencies['registry']): boolean {
  try {
    return registry().effects.size > 0;
  } catch {
    return true;
  }
}
