/** When an execution ends after a step, and why: the order of seed 000 §6. */
import { describe, expect, it } from '@jest/globals';
import { LIMITS } from '../../src/core/limit.ts';
import { evaluateStop, type StepFacts, type StopReason, type StopRules } from '../../src/core/stop.ts';

const ok = (name: string) => ({ name, succeeded: true });
const failed = (name: string) => ({ name, succeeded: false });

const EVERY_RULE: StopRules = {
  stopOnResponse: true,
  stopTool: 'done',
  sessionStop: 'finish',
  sessionFail: 'give_up',
  maxSteps: 3,
};

function facts({
  rules,
  ...fields
}: Partial<Omit<StepFacts, 'rules'>> & { rules?: Partial<StopRules> }): StepFacts {
  return {
    rules: { stopOnResponse: true, ...rules },
    text: false,
    calls: [],
    answered: true,
    steps: 1,
    ...fields,
  };
}

describe('[runtime 6] the order of stop rules', () => {
  // From the top: each row takes away what made the one before it stop.
  it.each<[StopReason | undefined, Partial<StepFacts>]>([
    ['session_fail', { calls: [ok('done'), ok('finish'), ok('give_up')], text: true, steps: 3 }],
    ['session_stop', { calls: [ok('done'), ok('finish'), failed('give_up')], text: true, steps: 3 }],
    ['stop_tool', { calls: [ok('other'), ok('done')], text: true, steps: 3 }],
    ['stop_on_response', { calls: [], text: true, steps: 3 }],
    ['max_side_steps', { calls: [ok('other')], text: true, steps: 3 }],
    [undefined, { calls: [ok('other')], text: true, steps: 2 }],
  ])('gives %s', (reason, fields) => {
    expect(evaluateStop({ ...facts({ rules: EVERY_RULE }), ...fields })).toBe(reason);
  });
});

describe('stop rules', () => {
  it.each<[string, StopReason | undefined, Parameters<typeof facts>[0]]>([
    [
      '[runtime 6] a session tool that succeeded ends the session',
      'session_stop',
      { rules: { sessionStop: 'finish' }, calls: [ok('finish')] },
    ],
    [
      '[definitions 22.44] a session tool that failed stops nothing',
      undefined,
      { rules: { sessionStop: 'finish' }, calls: [failed('finish')], text: true },
    ],
    [
      '[definitions 22.44] a failed session tool holds back the stop tool',
      undefined,
      { rules: EVERY_RULE, calls: [failed('give_up'), ok('done')] },
    ],
    [
      '[definitions 22.44] a failed session tool holds back no limit',
      'max_side_steps',
      { rules: EVERY_RULE, calls: [failed('give_up'), ok('done')], steps: 3 },
    ],
    [
      '[definitions 22.5] sessionFail is looked at before sessionStop',
      'session_fail',
      { rules: EVERY_RULE, calls: [ok('finish'), ok('give_up')] },
    ],
    [
      '[runtime 6] a second call that succeeded counts',
      'session_stop',
      { rules: EVERY_RULE, calls: [failed('finish'), ok('finish')] },
    ],
    [
      '[definitions 22.6] a stop tool that failed stops nothing',
      undefined,
      { rules: { stopTool: 'done' }, calls: [failed('done')] },
    ],
    [
      '[runtime 6] a stop tool stops beside other calls',
      'stop_tool',
      { rules: { stopTool: 'done' }, calls: [ok('done'), failed('other')] },
    ],
    ['[definitions 12.5] text with a call is no response', undefined, { text: true, calls: [ok('other')] }],
    ['[definitions 12.5] text without a call is a response', 'stop_on_response', { text: true }],
    [
      '[definitions 12.5] text is no response where stopOnResponse is off',
      undefined,
      { rules: { stopOnResponse: false }, text: true },
    ],
    ['[definitions 12.5] an answer with neither text nor calls stops', 'empty_response', {}],
    ['an empty answer goes on where stopOnResponse is off', undefined, { rules: { stopOnResponse: false } }],
    [
      'a step of queued tools is no answer of the model',
      undefined,
      { answered: false, calls: [ok('other')] },
    ],
    ['a step of queued tools has no empty answer', undefined, { answered: false }],
    [
      'a step of queued tools may stop by its stop tool',
      'stop_tool',
      { rules: { stopTool: 'done' }, answered: false, calls: [ok('done')] },
    ],
    [
      'a step of queued tools meets no limit',
      undefined,
      { rules: { maxSteps: 1 }, answered: false, calls: [ok('other')], steps: 1 },
    ],
    [
      '[runtime 6] maxSteps ends the execution',
      'max_side_steps',
      { rules: { maxSteps: 2 }, calls: [ok('other')], steps: 2 },
    ],
    [
      '[runtime 6] maxSteps lets the step before it pass',
      undefined,
      { rules: { maxSteps: 2 }, calls: [ok('other')], steps: 1 },
    ],
    [
      'the hard cap ends an execution without maxSteps',
      'max_total_steps',
      { calls: [ok('other')], steps: LIMITS.stepsPerExecution },
    ],
    [
      'the step before the hard cap passes',
      undefined,
      { calls: [ok('other')], steps: LIMITS.stepsPerExecution - 1 },
    ],
    [
      'a larger maxSteps raises the hard cap',
      undefined,
      { rules: { maxSteps: 300 }, calls: [ok('other')], steps: 299 },
    ],
    [
      'a larger maxSteps ends at its own number',
      'max_side_steps',
      { rules: { maxSteps: 300 }, calls: [ok('other')], steps: 300 },
    ],
  ])('%s', (_rule, reason, given) => {
    expect(evaluateStop(facts(given))).toBe(reason);
  });
});
