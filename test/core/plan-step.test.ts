/** What a model step does, given where the store stands: every combination. */
import { describe, expect, it } from '@jest/globals';
import { planStep, type StepPlan, type StepSituation } from '../../src/core/thread/plan-step.ts';

const UNFINISHED = { step: 4, settled: false };
const SETTLED = { step: 4, settled: true };
const adopt: StepPlan = { do: 'adopt', step: 4 };
const tools: StepPlan = { do: 'run_tools' };
const call: StepPlan = { do: 'call_model' };
const nothing: StepPlan = { do: 'nothing' };

// unseen, new tools, answer due, turn open
const TABLE: readonly [StepSituation['unseen'], boolean, boolean, boolean, StepPlan][] = [
  [undefined, false, false, false, nothing],
  [undefined, false, false, true, call],
  [undefined, false, true, false, call],
  [undefined, false, true, true, call],
  [undefined, true, false, false, tools],
  [undefined, true, false, true, tools],
  [undefined, true, true, false, tools],
  [undefined, true, true, true, tools],
  [SETTLED, false, false, false, nothing],
  [SETTLED, false, false, true, adopt],
  [SETTLED, false, true, false, call],
  [SETTLED, false, true, true, call],
  [SETTLED, true, false, false, tools],
  [SETTLED, true, false, true, tools],
  [SETTLED, true, true, false, tools],
  [SETTLED, true, true, true, tools],
  ...[false, true].flatMap((newTools) =>
    [false, true].flatMap((answerDue) =>
      [false, true].map(
        (turnOpen) => [UNFINISHED, newTools, answerDue, turnOpen, adopt] as (typeof TABLE)[number],
      ),
    ),
  ),
];

describe('[runtime 3] the plan of a step', () => {
  it.each(TABLE)(
    'unseen %j, new tools %j, answer due %j, turn open %j: %j',
    (unseen, newTools, answerDue, turnOpen, plan) => {
      expect(planStep({ unseen, newTools, answerDue, turnOpen })).toEqual(plan);
    },
  );
});
