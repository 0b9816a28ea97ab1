/** How often a living worker says so: a heartbeat that is late must not make it a lost one. */
import { describe, expect, it } from '@jest/globals';
import { heartbeatIntervalMs } from '../../src/worker/temporal-worker.ts';

describe('the pause between two heartbeats', () => {
  it.each([
    ['of the defaults', 5000, 10_000],
    ['of the shortest time-outs that may be set', 1000, 1000],
    ['of a short one for models', 1500, 10_000],
    ['of a short one for tools', 5000, 1200],
  ])(
    '%s leaves room for three of them within the shorter time-out, and a stop within a second',
    (_name, model, tool) => {
      const pause = heartbeatIntervalMs({ modelHeartbeatMs: model, toolHeartbeatMs: tool });
      expect(3 * pause).toBeLessThanOrEqual(Math.min(model, tool));
      expect(pause).toBeLessThanOrEqual(800);
    },
  );

  it('is no shorter than it must be', () => {
    expect(heartbeatIntervalMs({ modelHeartbeatMs: 5000, toolHeartbeatMs: 10_000 })).toBe(800);
  });
});
