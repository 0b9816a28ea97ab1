/** What ends with a step, and why: the order of runtime §6, for one side and for two. */
import { describe, expect, it } from '@jest/globals';
import {
  evaluateStop,
  type StepFacts,
  type StopReason,
  type StopRules,
  type StopVerdict,
} from '../../src/core/thread/stop.ts';
import { LIMITS } from '../../src/core/value/limit.ts';

const ok = (name: string) => ({ name, succeeded: true });
const failed = (name: string) => ({ name, succeeded: false });

const EVERY_RULE: StopRules = {
  stopOnResponse: true,
  stopTool: 'done',
  sessionStop: 'finish',
  sessionFail: 'give_up',
  maxSteps: 3,
};

interface Given extends Partial<Omit<StepFacts, 'rules'>> {
  readonly rules?: Partial<StopRules>;
  /** Steps of side A, unless `sideSteps` is given. */
  readonly steps?: number;
}

function facts({ rules, steps = 1, ...fields }: Given): StepFacts {
  return {
    rules: { stopOnResponse: true, ...rules },
    side: 'a',
    text: false,
    calls: [],
    answered: true,
    sideSteps: { a: steps, b: 0 },
    turns: 0,
    moreInput: false,
    ...fields,
  };
}

const reasonOf = (given: StepFacts): StopReason | undefined => evaluateStop(given).reason;

describe('[runtime 6] the order of stop rules', () => {
  // From the top: each row removes what made the one before it stop.
  it.each<[StopReason | undefined, Given]>([
    ['session_fail', { calls: [ok('done'), ok('finish'), ok('give_up')], text: true, steps: 3 }],
    ['session_stop', { calls: [ok('done'), ok('finish'), failed('give_up')], text: true, steps: 3 }],
    ['stop_tool', { calls: [ok('other'), ok('done')], text: true, steps: 3 }],
    ['stop_on_response', { calls: [], text: true, steps: 3 }],
    ['max_side_steps', { calls: [ok('other')], text: true, steps: 3 }],
    [undefined, { calls: [ok('other')], text: true, steps: 2 }],
  ])('gives %s', (reason, fields) => {
    expect(reasonOf(facts({ rules: EVERY_RULE, ...fields }))).toBe(reason);
    // The order is the same if two sides act.
    expect(reasonOf(facts({ rules: { ...EVERY_RULE, other: {} }, ...fields }))).toBe(reason);
  });
});

describe('stop rules', () => {
  it.each<[string, StopReason | undefined, Given]>([
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
    [
      '[definitions 12.5] text with a call is not a response',
      undefined,
      { text: true, calls: [ok('other')] },
    ],
    ['[definitions 12.5] text without a call is a response', 'stop_on_response', { text: true }],
    [
      '[definitions 12.5] text is not a response if stopOnResponse is off',
      undefined,
      { rules: { stopOnResponse: false }, text: true },
    ],
    ['[definitions 12.5] an answer with neither text nor calls stops', 'empty_response', {}],
    ['an empty answer continues if stopOnResponse is off', undefined, { rules: { stopOnResponse: false } }],
    [
      'a step of queued tools is not an answer of the model',
      undefined,
      { answered: false, calls: [ok('other')] },
    ],
    [
      '[definitions 22.26] a request that a hook refused ends the execution, whatever the rules say',
      'hook_blocked',
      { rules: { stopOnResponse: false, maxSteps: 1 }, text: true, directive: 'blocked' },
    ],
    ['a step of queued tools has no empty answer', undefined, { answered: false }],
    [
      'a step of unanswered queued tools ends the execution, whatever the rules',
      'unanswered',
      { rules: { stopOnResponse: false, maxSteps: 1 }, answered: false, directive: 'unanswered' },
    ],
    [
      'a step of queued tools may stop by its stop tool',
      'stop_tool',
      { rules: { stopTool: 'done' }, answered: false, calls: [ok('done')] },
    ],
    [
      '[runtime 15] a step of queued tools meets every limit',
      'max_side_steps',
      { rules: { maxSteps: 1 }, answered: false, calls: [ok('other')], steps: 1 },
    ],
    [
      '[runtime 15] the hard cap too',
      'max_total_steps',
      { answered: false, calls: [ok('other')], steps: LIMITS.stepsPerExecution },
    ],
    [
      '[runtime 3.7] more input holds back no session tool',
      'session_stop',
      { rules: EVERY_RULE, answered: false, calls: [ok('finish')], moreInput: true },
    ],
    [
      '[runtime 3.7] nor what code asks for',
      'state_stop_session',
      { rules: EVERY_RULE, calls: [ok('other')], moreInput: true, directive: 'stop' },
    ],
    [
      '[runtime 6.4] nor a limit',
      'max_side_steps',
      { rules: EVERY_RULE, text: true, steps: 3, moreInput: true },
    ],
    [
      '[runtime 6] stop() holds beside a session tool that failed',
      'state_stop_session',
      { rules: EVERY_RULE, calls: [failed('finish')], directive: 'stop' },
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
    expect(reasonOf(facts(given))).toBe(reason);
  });

  it.each<[StopVerdict['ends'], Given]>([
    ['nothing', { calls: [ok('other')] }],
    ['turn', { text: true }],
    ['turn', { rules: { stopTool: 'done' }, calls: [ok('done')] }],
    ['session', { rules: { sessionStop: 'finish' }, calls: [ok('finish')] }],
    ['session', { rules: { sessionFail: 'give_up' }, calls: [ok('give_up')] }],
    ['session', { directive: 'stop', text: true }],
    ['execution', { directive: 'blocked', text: true }],
    ['execution', { rules: { maxSteps: 1 }, calls: [ok('other')] }],
    ['execution', { calls: [ok('other')], steps: LIMITS.stepsPerExecution }],
  ])('[definitions 12.5] ends the %s: %j', (ends, given) => {
    expect(evaluateStop(facts(given)).ends).toBe(ends);
    expect(evaluateStop(facts({ ...given, rules: { ...given.rules, other: {} } })).ends).toBe(ends);
  });
});

/** Facts of a thread with two sides; `other` holds the rules of the opposite side. */
const two = (given: Given = {}): StepFacts => facts({ ...given, rules: { other: {}, ...given.rules } });
const NO_RULE: Partial<StopRules> = { stopOnResponse: false };

describe('[runtime 6] the stop rules of two sides', () => {
  it.each<[string, Partial<StopVerdict>, StepFacts]>([
    [
      'an answer ends the turn',
      { ends: 'turn', reason: 'stop_on_response', turn: true },
      two({ text: true }),
    ],
    ['a step with calls does not', { ends: 'nothing', turn: false }, two({ calls: [ok('other')] })],
    [
      'without any rule of its own a side yields after each step',
      { ends: 'turn', reason: 'no_stop_rule', turn: true },
      two({ rules: NO_RULE, calls: [ok('other')] }),
    ],
    [
      'one side without any rule continues',
      { ends: 'nothing' },
      facts({ rules: NO_RULE, calls: [ok('other')] }),
    ],
    [
      'a stop tool is a rule: nothing but it ends the turn',
      { ends: 'nothing' },
      two({ rules: { ...NO_RULE, stopTool: 'done' }, text: true }),
    ],
    [
      'a step of queued tools is not a step of a side without rules',
      { ends: 'nothing' },
      two({ rules: NO_RULE, answered: false, calls: [ok('other')] }),
    ],
    ['code may keep the turn', { ends: 'nothing' }, two({ text: true, directive: 'a' })],
    [
      'code may give it away',
      { ends: 'turn', reason: 'forced_turn', turn: true },
      two({ calls: [ok('other')], directive: 'b' }),
    ],
    [
      'code of side B means the same by it',
      { ends: 'turn', reason: 'forced_turn' },
      two({ side: 'b', calls: [ok('other')], directive: 'a' }),
    ],
    ['and keeps it by its own name', { ends: 'nothing' }, two({ side: 'b', text: true, directive: 'b' })],
    [
      'beside a person it is the person who acts',
      { ends: 'turn', reason: 'forced_human_turn' },
      facts({ calls: [ok('other')], directive: 'b' }),
    ],
    [
      'a session tool wins over what code asked',
      { ends: 'session', reason: 'session_stop' },
      two({ rules: { sessionStop: 'finish' }, calls: [ok('finish')], directive: 'b' }),
    ],
    [
      'stop() ends the session',
      { ends: 'session', reason: 'state_stop_session', turn: true },
      two({ side: 'b', calls: [ok('other')], directive: 'stop' }),
    ],
  ])('%s', (_rule, verdict, given) => {
    expect(evaluateStop(given)).toMatchObject(verdict);
  });

  it.each<[string, Partial<StopVerdict>, StepFacts]>([
    [
      '[definitions 22.17] maxSessionTurns counts the turns of both sides',
      { ends: 'session', reason: 'max_session_turns', turn: true },
      two({ rules: { other: { maxSessionTurns: 4 } }, text: true, turns: 3 }),
    ],
    [
      '[definitions 22.17] and lets the turn before it pass',
      { ends: 'turn' },
      two({ rules: { other: { maxSessionTurns: 4 } }, text: true, turns: 2 }),
    ],
    [
      '[runtime 15] a session without turns left has no further step',
      { ends: 'session', reason: 'max_session_turns', turn: false },
      two({ rules: { other: { maxSessionTurns: 1 } }, calls: [ok('other')], turns: 5 }),
    ],
    [
      '[runtime 15] the turn that a queued stop tool ends counts as any',
      { ends: 'session', reason: 'max_session_turns', turn: true },
      two({
        rules: { stopTool: 'done', other: { maxSessionTurns: 1 } },
        answered: false,
        calls: [ok('done')],
      }),
    ],
    [
      '[definitions 22.18] maxSteps binds the side that would act next: itself',
      { ends: 'execution', reason: 'max_side_steps', turn: false },
      two({ rules: { maxSteps: 2 }, calls: [ok('other')], sideSteps: { a: 2, b: 3 } }),
    ],
    [
      '[definitions 22.18] and not by the steps of the other one',
      { ends: 'nothing' },
      two({ rules: { maxSteps: 3 }, calls: [ok('other')], sideSteps: { a: 2, b: 3 } }),
    ],
    [
      '[definitions 22.18] or the other one, whose turn it would be',
      { ends: 'execution', reason: 'max_side_steps', turn: true },
      two({ rules: { other: { maxSteps: 2 } }, text: true, sideSteps: { a: 1, b: 2 } }),
    ],
    [
      '[definitions 22.18] its own cap does not hold the other one back',
      { ends: 'turn' },
      two({ rules: { maxSteps: 1 }, text: true, sideSteps: { a: 1, b: 0 } }),
    ],
    [
      'the hard cap counts the steps of both',
      { ends: 'execution', reason: 'max_total_steps', turn: true },
      two({ text: true, sideSteps: { a: 125, b: 125 } }),
    ],
    [
      'a forced turn is bound by limits as any',
      { ends: 'execution', reason: 'max_total_steps' },
      two({ directive: 'b', calls: [ok('other')], steps: LIMITS.stepsPerExecution }),
    ],
    [
      'a kept turn is bound by the cap of its side',
      { ends: 'execution', reason: 'max_side_steps' },
      two({ rules: { maxSteps: 1 }, directive: 'a', text: true }),
    ],
    [
      'a larger maxSteps of either side raises the hard cap',
      { ends: 'turn' },
      two({ rules: { other: { maxSteps: 300 } }, text: true, sideSteps: { a: 150, b: 149 } }),
    ],
    [
      'what ends anyway ends for its own reason',
      { ends: 'session', reason: 'session_stop' },
      two({
        rules: { sessionStop: 'finish', maxSteps: 1, other: { maxSessionTurns: 1 } },
        calls: [ok('finish')],
      }),
    ],
  ])('%s', (_rule, verdict, given) => {
    expect(evaluateStop(given)).toMatchObject(verdict);
  });
});

describe('[runtime 3.7] whether another step follows', () => {
  it.each<[string, boolean, StepFacts]>([
    ['the person acts after a turn of one side', false, facts({ text: true })],
    ['more input has arrived', true, facts({ text: true, moreInput: true })],
    ['the other side acts after a turn of two', true, two({ text: true })],
    ['nothing was ended', true, facts({ calls: [ok('other')] })],
    [
      'a session is over',
      false,
      two({ rules: { sessionStop: 'finish' }, calls: [ok('finish')], moreInput: true }),
    ],
    ['a limit', false, facts({ rules: { maxSteps: 1 }, calls: [ok('other')], moreInput: true })],
  ])('%s: %s', (_rule, goesOn, given) => {
    expect(evaluateStop(given).goesOn).toBe(goesOn);
  });
});
