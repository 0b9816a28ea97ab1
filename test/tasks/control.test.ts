/** The decisions of a task's loop, and of its readiness, without an engine. */
import { describe, expect, it } from '@jest/globals';
import {
  endOf,
  judgeCost,
  judgeEvals,
  judgeProgress,
  judgeRepetition,
  judgeSteps,
  meanScore,
} from '../../src/core/task/control.ts';
import { readDecision, readEvals } from '../../src/core/task/decision.ts';
import {
  decideReadiness,
  type KnowledgeRequirement,
  reportKnowledge,
  toPlans,
  toQuestions,
  withAnswers,
} from '../../src/core/task/knowledge.ts';
import { parseRequirement } from '../../src/core/task/requirement.ts';
import { parseTaskSpec, toLimits } from '../../src/core/task/spec.ts';
import { parseTaskStart } from '../../src/core/thread/task-start.ts';

const NOW = Date.parse('2026-03-01T00:00:00Z');

function required(fields: Partial<KnowledgeRequirement> & { id: string }): KnowledgeRequirement {
  const parsed = parseRequirement({ description: `what is ${fields.id}?`, ...fields });
  if (typeof parsed === 'string') throw new Error(parsed);
  return parsed;
}

describe('evals', () => {
  it('treat a failure without severity as an error, and never pass unmeasured', () => {
    expect(judgeEvals([{ id: 'a', passed: false }])).toBeUndefined();
    expect(judgeEvals([])).toBeUndefined();
    expect(
      judgeEvals([
        { id: 'a', passed: false, severity: 'warning', score: 0.5 },
        { id: 'b', passed: true, score: 1 },
      ]),
    ).toEqual({
      stoppedBy: 'stop-policy',
      pass: true,
      reason: 'all evals pass',
      score: 0.75,
    });
  });

  it('have a mean of three decimals over those with a score', () => {
    expect(
      meanScore([
        { id: 'a', passed: true, score: 1 },
        { id: 'b', passed: true, score: 0 },
        { id: 'c', passed: true, score: 0 },
      ]),
    ).toBe(0.333);
    expect(meanScore([{ id: 'a', passed: true }])).toBeUndefined();
  });

  it.each([
    ['no list', {}, /array/],
    ['no id', [{ passed: true }], /evals\[0\]: "id"/],
    ['a score above 1', [{ id: 'a', passed: true, score: 2 }], /"score"/],
    ['a severity of its own', [{ id: 'a', passed: true, severity: 'bad' }], /"severity"/],
  ])('refuses %s', (_, given, reason) => {
    expect(readEvals(given)).toEqual({ ok: false, reason: expect.stringMatching(reason) });
  });
});

describe('budgets', () => {
  const limits = toLimits({ maxSteps: 2, maxCostUsd: 0.5 });

  it('name the exhausted limit, with defaults of eight steps and five minutes', () => {
    expect(toLimits()).toEqual({ maxSteps: 8, maxWallMs: 300_000, maxCostUsd: null });
    expect(judgeSteps({ steps: 1, spentCostUsd: 0 }, limits)).toBeUndefined();
    expect(judgeSteps({ steps: 2, spentCostUsd: 0 }, limits)).toMatchObject({
      stoppedBy: 'budget',
      limit: 'maxSteps',
      pass: false,
    });
    expect(judgeCost({ steps: 0, spentCostUsd: 0.49 }, limits)).toBeUndefined();
    expect(judgeCost({ steps: 0, spentCostUsd: 0.5 }, limits)).toMatchObject({
      limit: 'maxCostUsd',
      reason: 'budget exhausted: maxCostUsd=0.5',
    });
  });

  it('end a loop without progress, if configured', () => {
    const same = { fingerprint: 'f', score: 0.5 };
    expect(judgeProgress([same, same, same], {})).toBeUndefined();
    expect(judgeProgress([same, same], { maxNoProgressSteps: 2 })).toBeUndefined();
    expect(judgeProgress([same, same, same], { maxNoProgressSteps: 2 })).toMatchObject({
      limit: 'maxNoProgressSteps',
    });
    expect(judgeProgress([same, same, { ...same, score: 0.6 }], { maxNoProgressSteps: 2 })).toBeUndefined();
    expect(judgeRepetition(['a', 'a'], { maxRepeatedActions: 3 })).toBeUndefined();
    expect(judgeRepetition(['b', 'a', 'a', 'a'], { maxRepeatedActions: 3 })).toMatchObject({
      limit: 'maxRepeatedActions',
    });
    expect(judgeRepetition(['a', null, 'a'], { maxRepeatedActions: 3 })).toBeUndefined();
  });
});

describe('the end of a task', () => {
  it('is derived from its cause, never from the text of a reason', () => {
    expect(endOf({ stoppedBy: 'abort', pass: false })).toBe('aborted');
    expect(endOf({ stoppedBy: 'readiness', pass: false })).toBe('blocked');
    expect(endOf({ stoppedBy: 'policy', pass: true })).toBe('completed');
    expect(endOf({ stoppedBy: 'policy', pass: false })).toBe('failed');
    expect(endOf({ stoppedBy: 'budget', pass: false })).toBe('failed');
  });
});

describe('decisions', () => {
  it.each([
    [
      { kind: 'act', action: { a: 1 } },
      { kind: 'act', action: { a: 1 } },
    ],
    [
      { type: 'continue', action: 'go' },
      { kind: 'act', action: 'go' },
    ],
    [
      { kind: 'ask', question: 'which?' },
      { kind: 'ask', question: 'which?' },
    ],
    [
      { kind: 'finish', pass: true, reason: 'done' },
      { kind: 'stop', pass: true, reason: 'done' },
    ],
  ])('%j is accepted', (given, decision) => {
    expect(readDecision(given)).toEqual({ ok: true, decision });
  });

  it.each([
    ['nothing', undefined, /object/],
    ['an act without an action', { kind: 'act' }, /"action"/],
    ['a question without words', { kind: 'ask' }, /"question"/],
    ['a stop that says neither', { kind: 'stop', reason: 'done' }, /"pass"/],
    ['another kind', { kind: 'wait' }, /act, ask, await or stop/],
  ])('%s is refused', (_, given, reason) => {
    expect(readDecision(given)).toEqual({ ok: false, reason: expect.stringMatching(reason) });
  });
});

describe('readiness', () => {
  it('is 1 if nothing is required', () => {
    expect(reportKnowledge([], NOW)).toMatchObject({
      readinessScore: 1,
      severity: 'info',
      recommendedAction: 'run_agent',
    });
  });

  it('weighs requirements by importance, and an expired one as missing', () => {
    const report = reportKnowledge(
      [
        required({ id: 'a', importance: 'high', currentConfidence: 1 }),
        required({
          id: 'b',
          importance: 'medium',
          confidenceNeeded: 0.8,
          currentConfidence: 0.4,
          acquisitionMode: 'search_web',
        }),
        required({ id: 'c', importance: 'low', currentConfidence: 1, validUntil: '2026-02-01T00:00:00Z' }),
      ],
      NOW,
    );
    // (4 + 2 × 0.5 + 0) / 7
    expect(report).toMatchObject({
      readinessScore: 0.714,
      blockingMissing: [],
      nonBlockingMissing: ['b', 'c'],
      severity: 'info',
      recommendedAction: 'ask_user',
    });
    expect(decideReadiness(report)).toMatchObject({ kind: 'ready' });
    expect(decideReadiness(report, 0.8)).toMatchObject({ kind: 'caveat', gaps: ['b', 'c'] });
  });

  it('requests a secret as a credential, and plans one way per mode', () => {
    const report = reportKnowledge(
      [
        required({ id: 'key', importance: 'low', sensitivity: 'secret' }),
        required({ id: 'docs', acquisitionMode: 'search_web', fallbackPolicy: 'continue_with_caveat' }),
        required({ id: 'guess', acquisitionMode: 'infer_low_confidence', fallbackPolicy: 'use_default' }),
      ],
      NOW,
    );
    expect(decideReadiness(report)).toMatchObject({ kind: 'blocked', gaps: ['key'] });
    expect(toQuestions(report)).toEqual([
      expect.objectContaining({ id: 'question_key', answerType: 'credential', requirementId: 'key' }),
    ]);
    expect(toPlans(report).map(({ id, mode }) => [id, mode])).toEqual([
      ['acquire_ask_user', 'ask_user'],
      ['acquire_search_web', 'search_web'],
    ]);
    const answered = withAnswers(report.requirements, { key: 'API_KEY' });
    expect(decideReadiness(reportKnowledge(answered, NOW), 0.2)).toMatchObject({ kind: 'ready' });
    expect(answered[0]?.evidenceIds).toEqual(['answer_key']);
  });
});

describe('the start of a task', () => {
  it('has its id in the workflow id, and the name as its default intent', () => {
    expect(parseTaskStart({ task: 'triage' }, 'task/t1')).toEqual({
      id: 't1',
      task: 'triage',
      userId: null,
      organizationId: null,
      scenarioId: null,
      storeId: null,
      spec: { id: 't1', intent: 'triage' },
    });
  });

  it.each([
    ['another prefix', { task: 'a' }, 'thread/t1', /task\//],
    ['another id', { task: 'a', id: 't2' }, 'task/t1', /the workflow id contains "t1"/],
    ['no task', {}, 'task/t1', /"task"/],
    ['a budget that is invalid', { task: 'a', budget: { maxSteps: -1 } }, 'task/t1', /maxSteps/],
    ['inputs that are no object', { task: 'a', inputs: [] }, 'task/t1', /"inputs"/],
  ])('refuses %s', (_, input, workflowId, reason) => {
    expect(() => parseTaskStart(input, workflowId)).toThrow(reason);
  });

  it('refuses a duplicate requirement', () => {
    const requirement = { id: 'a', description: 'what?' };
    expect(
      parseTaskSpec({ id: 't', intent: 'x', requiredKnowledge: [requirement, requirement] }),
    ).toMatchObject({ ok: false });
  });
});
