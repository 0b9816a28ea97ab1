/** What stands around the implementations of activities, as the table in core lists it. */
import { describe, expect, it } from '@jest/globals';
import { asyncLocalStorage, Context, type Info } from '@temporalio/activity';
import type { ActivityDependencies } from '../../src/activities/base/dependencies.ts';
import { createActivities } from '../../src/activities/index.ts';
import { type Implementation, wrapActivity } from '../../src/activities/wrappers.ts';
import { ACTIVITIES, type ActivityName } from '../../src/core/thread/activities.ts';

const NAMES = Object.keys(ACTIVITIES) as ActivityName[];
/** Outermost first. */
const ORDER = ['stepLoop', 'nextThought', 'effects', 'insideCalls', 'waitSignal', 'unit', 'faultPoint'];

function placeOf(wrapper: (typeof ACTIVITIES)[ActivityName]['wrappers'][number]): number {
  if (typeof wrapper === 'object') return ORDER.indexOf('faultPoint');
  return ORDER.indexOf(wrapper.endsWith('ffectsDue') ? 'effects' : wrapper);
}

function inActivity<T>(work: () => Promise<T>): Promise<T> {
  const nothing = {} as never;
  const never = new Promise<never>(() => undefined);
  const { signal } = new AbortController();
  const info = { activityType: 'runSubprompt', attempt: 1 } as Info;
  const context = new Context(info, never, signal, () => undefined, nothing, nothing, nothing, {});
  return asyncLocalStorage.run(context, work);
}

describe('the table of activities', () => {
  it('names each activity that a worker registers, and no other', () => {
    expect(Object.keys(createActivities({} as ActivityDependencies))).toEqual(NAMES);
  });

  it.each(NAMES)('lists the wrappers of %s in one order', (name) => {
    const places = ACTIVITIES[name].wrappers.map(placeOf);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places).not.toContain(-1);
  });
});

describe('a wrapped activity', () => {
  it('passes its fault point, runs, wakes its ancestors if it waits, and then reads the next effect', async () => {
    const seen: string[] = [];
    const see = async <T>(what: string, outcome: T): Promise<T> => {
      seen.push(what);
      return outcome;
    };
    const dependencies = {
      probe: (point: string) => see(point, undefined),
      registry: () => ({ effects: new Map([['remind', {}]]) }),
      store: {
        waits: { showAbove: () => see('ancestors', []) },
        effects: { next: () => see('effects', 5) },
      },
    } as unknown as ActivityDependencies;
    const implementation: Implementation<never, object> = {
      run: () => see('run', { kind: 'waits' }),
      unit: () => ({ code: 'subprompt', name: 'call 0', threadId: 't', work: 't:1:0' }),
      giveUp: async () => ({ kind: 'given up' }),
    };
    const implementations = Object.fromEntries(NAMES.map((name) => [name, implementation]));
    const run = wrapActivity(implementations as Record<ActivityName, typeof implementation>, 'runSubprompt');
    const outcome = await inActivity(() => run(dependencies, { threadId: 't' }));
    expect(outcome).toEqual({ kind: 'waits', effectsInMs: 5 });
    expect(seen).toEqual(['subprompt_not_begun', 'run', 'ancestors', 'effects']);
  });
});
