/** How often an activity sends a heartbeat: a late one must not make a living worker look lost; each has a cost. */
import { describe, expect, it } from '@jest/globals';
import { heartbeatPauseMs } from '../../src/activities/base/guard.ts';
import { readConfiguration } from '../../src/configuration.ts';

describe('the pause between two heartbeats', () => {
  it.each([
    ['of the defaults for models', 5000, 2000],
    ['of the defaults for tools', 10_000, 2000],
    ['of the shortest times that may be set', 1000, 250],
    ['of a long time-out', 600_000, 2000],
    ['of a stop that may take its time', 10_000, 60_000],
  ])('%s fits three times into the timeout, and a stop in time', (_, timeout, stopWithin) => {
    const pause = heartbeatPauseMs(timeout, stopWithin);
    expect(3 * pause).toBeLessThanOrEqual(timeout);
    expect(pause).toBeLessThanOrEqual(stopWithin);
    // The pause is as long as possible: one millisecond more would exceed one of the two bounds.
    expect(Math.max(3 * (pause + 1) - timeout, pause + 1 - stopWithin)).toBeGreaterThan(0);
  });

  it('has a limit for an activity without a timeout', () => {
    expect(heartbeatPauseMs(undefined, 2000)).toBe(2000);
  });

  it('is at most two seconds by default', () => {
    expect(readConfiguration({}).stopWithinMs).toBe(2000);
    expect(readConfiguration({ EVERTHREAD_STOP_WITHIN_MS: '15000' }).stopWithinMs).toBe(15_000);
  });
});
