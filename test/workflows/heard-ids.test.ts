/** What a workflow remembers of signals, and the floor that calls beside each other share. */
import { describe, expect, it } from '@jest/globals';
import { LIMITS } from '../../src/core/value/limit.ts';
import { Floor } from '../../src/workflows/floor.ts';
import { HeardIds } from '../../src/workflows/heard-ids.ts';

describe('ids that signals have named', () => {
  it('count for each listener from its own point on', () => {
    const heard = new HeardIds();
    heard.hear('a');
    const first = heard.count;
    expect(heard.hasSince('a', first)).toBe(false);
    heard.hear('b');
    // Another call begins to listen: what the first has heard stays heard.
    const second = heard.count;
    expect([heard.hasSince('b', first), heard.hasSince('b', second)]).toEqual([true, false]);
    heard.hear('b');
    expect(heard.hasSince('b', second)).toBe(true);
    expect(heard.hasSince('c', 0)).toBe(false);
  });

  it('all count as named once there were more than are remembered', () => {
    const heard = new HeardIds();
    const before = heard.count;
    for (let n = 0; n <= LIMITS.heardReports; n++) heard.hear(`${n}`);
    expect(heard.hasSince('0', before)).toBe(true);
    expect(heard.hasSince('never', before)).toBe(true);
    expect(heard.hasSince('never', heard.count)).toBe(false);
  });
});

describe('the floor of calls beside each other', () => {
  it('is lent to effects only while all of them wait', () => {
    const floor = new Floor(() => false);
    floor.beginStep();
    expect([floor.takeBack(), floor.takeBack()]).toEqual([true, true]);
    floor.lend();
    floor.lend();
    expect(floor.effectsMustWait).toBe(true);
    floor.lend();
    expect(floor.effectsMustWait).toBe(false);
    floor.beginEffects();
    expect(floor.takeBack()).toBe(false);
    floor.endEffects();
    expect(floor.takeBack()).toBe(true);
    expect(floor.effectsMustWait).toBe(true);
  });
});
