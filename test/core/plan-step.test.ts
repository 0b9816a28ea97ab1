/** What a model step does, for every combination of what the store holds. */
import { describe, expect, it } from '@jest/globals';
import { mustTakeOver, planStep, type StepPlan, type UnseenStep } from '../../src/core/thread/plan-step.ts';

const UNFINISHED = { step: 4, settled: false };
const SETTLED = { step: 4, settled: true };

// Columns: unseen step, turn open, taken over.
const TAKEN_OVER: readonly [UnseenStep | undefined, boolean, boolean][] = [
  [undefined, false, false],
  [undefined, true, false],
  [SETTLED, false, false],
  [SETTLED, true, true],
  [UNFINISHED, false, true],
  [UNFINISHED, true, true],
];

// Columns: new tools, turn open, plan.
const PLANS: readonly [boolean, boolean, StepPlan][] = [
  [false, false, 'nothing'],
  [false, true, 'call_model'],
  [true, false, 'run_tools'],
  [true, true, 'run_tools'],
];

describe('[runtime 3] the plan of a step', () => {
  it.each(TAKEN_OVER)('unseen %j, turn open %j: taken over %j', (unseen, turnOpen, taken) => {
    expect(mustTakeOver(unseen, turnOpen)).toBe(taken);
  });

  it.each(PLANS)('new tools %j, turn open %j: %j', (newTools, turnOpen, plan) => {
    expect(planStep({ newTools, turnOpen })).toBe(plan);
  });
});
