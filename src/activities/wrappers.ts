/**
 * What stands around the implementation of an activity: the table lists it for each (core/thread/activities.ts), the
 * outermost first, and `wrapActivity` applies the list.
 *
 *   stepLoop        goes on into the steps that follow (step/step-loop.ts)
 *   nextThought     goes on into the next thought of a task (task/phase.ts)
 *   effectsDue      adds when the thread's next effect is due, if the project defines effects; `anyEffectsDue` also for
 *                   those that were scheduled when it did, and `leftEffectsDue` also for those that another run began
 *   insideCalls     runs the calls at the beginning of an answer, as far as they are short (step/inside-calls.ts)
 *   waitSignal      wakes the ancestors that the thread holds up if the outcome is a wait for people
 *   unit            runs it as a unit of author work: here, in a lone process, or not any more (author/unit.ts)
 *   { faultPoint }  a place where a fault test may kill the worker
 */
import { ACTIVITIES, type ActivityName, type Wrapper } from '../core/thread/activities.ts';
import type { EffectsDue } from '../core/thread/step.ts';
import { asUnit, type UnitActivity } from './author/unit.ts';
import type { ActivityDependencies, ActivityRun, FaultPoint, Wrapped } from './base/dependencies.ts';
import { signalAncestors, waitsForPeople } from './signals/wake-relatives.ts';
import { withInsideCalls } from './step/inside-calls.ts';
import { withStepLoop } from './step/step-loop.ts';
import { withNextThought } from './task/phase.ts';

/** How an activity is implemented: as a unit of author work if its wrappers name that. */
export type Implementation<Input, Outcome> = ActivityRun<Input, Outcome> | UnitActivity<Input, Outcome>;
type Implementations = Readonly<Record<ActivityName, Implementation<never, object>>>;

interface AnyInput {
  readonly threadId: string;
  readonly waited?: true;
}
type AnyOutcome = EffectsDue & { readonly kind?: string };
type AnyRun = ActivityRun<AnyInput, AnyOutcome>;
type Wrap = (run: AnyRun, wrapped: Wrapped, implementation: UnitActivity<AnyInput, AnyOutcome>) => AnyRun;

const WRAPPERS = {
  stepLoop: withStepLoop,
  nextThought: withNextThought,
  effectsDue: (run: AnyRun) => withEffectsDue(run, {}),
  anyEffectsDue: (run: AnyRun) => withEffectsDue(run, { always: true }),
  leftEffectsDue: (run: AnyRun) => withEffectsDue(run, { always: true, begun: true }),
  insideCalls: withInsideCalls,
  waitSignal: withWaitSignal,
  unit: (run: AnyRun, { name }: Wrapped, unit: UnitActivity<AnyInput, AnyOutcome>) => asUnit(unit, name, run),
};

/** The activity with its wrappers from `first` on. */
export function wrapActivity(implementations: Implementations, name: ActivityName, first = 0): AnyRun {
  const implementation = implementations[name] as Implementation<AnyInput, AnyOutcome>;
  const run = 'run' in implementation ? implementation.run : implementation;
  const other = (called: ActivityName, outside?: Wrapper) => {
    const { wrappers } = ACTIVITIES[called];
    return wrapActivity(implementations, called, outside === undefined ? 0 : wrappers.indexOf(outside) + 1);
  };
  return ACTIVITIES[name].wrappers.slice(first).reduceRight((inner: AnyRun, wrapper: Wrapper) => {
    if (typeof wrapper === 'object') return withFaultPoint(inner, wrapper.faultPoint);
    return (WRAPPERS[wrapper] as Wrap)(
      inner,
      { name, other } as Wrapped,
      implementation as UnitActivity<AnyInput, AnyOutcome>,
    );
  }, run);
}

interface EffectsDueOptions {
  readonly always?: boolean;
  readonly begun?: boolean;
}

/**
 * Adds to the outcome when the thread's next effect is due (core/thread/step.ts, EffectsDue). Code within any
 * activity may have scheduled one; the workflow learns of it from the outcome, and needs no signal.
 */
function withEffectsDue(run: AnyRun, { always = false, begun = false }: EffectsDueOptions): AnyRun {
  return async (dependencies, input) => {
    const outcome = await run(dependencies, input);
    if (!always && !mayDefineEffects(dependencies)) return outcome;
    const effectsInMs = await dependencies.store.effects.next(input.threadId, { begun });
    return effectsInMs === null ? outcome : { ...outcome, effectsInMs };
  };
}

/** Also true if the project cannot be read: the activity's work is done, and must not fail because of that. */
function mayDefineEffects({ registry }: ActivityDependencies): boolean {
  try {
    return registry().effects.size > 0;
  } catch {
    return true;
  }
}

/** If an earlier attempt at the step has waited, the wait is over, which its ancestors must learn too. */
function withWaitSignal(run: AnyRun): AnyRun {
  return async (dependencies, input) => {
    const signal = () => signalAncestors(dependencies.store, input.threadId);
    if (input.waited) await signal();
    const outcome = await run(dependencies, input);
    if (waitsForPeople(outcome)) await signal();
    return outcome;
  };
}

function withFaultPoint(run: AnyRun, point: FaultPoint): AnyRun {
  return async (dependencies, input) => {
    await dependencies.probe?.(point);
    return run(dependencies, input);
  };
}
