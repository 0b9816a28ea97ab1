/** core/governance/budget.ts: how a spending is judged. */
import { describe, expect, it } from '@jest/globals';
import { evaluateSpending } from '../../../src/core/governance/budget.ts';
import { toCountedLine, toPayment } from '../../../src/core/governance/budget-amount.ts';
import type { BudgetLimit, BudgetLine, Spending } from '../../../src/core/governance/budget-line.ts';
import { planReservation } from '../../../src/core/governance/reservation.ts';

const line = (
  limit: BudgetLimit,
  max: number,
  used: number,
  fields: Partial<BudgetLine> = {},
): BudgetLine => ({
  ...{
    threadId: 't',
    executionId: 'e',
    limit,
    max,
    used,
    reserved: 0,
    estimated: 0,
    warnAt: 0.8,
    warned: false,
    ...fields,
  },
});
const told = (lines: readonly BudgetLine[], spending: Spending): string => {
  const verdict = evaluateSpending(lines.map(toCountedLine), toPayment(spending));
  if (verdict.kind === 'deny')
    return `deny ${verdict.line.executionId} ${verdict.line.limit} at ${verdict.observed}`;
  const changed = verdict.changed.map(({ limit, used }) => `${limit} ${used}`).join(', ');
  const warns = verdict.warns.map(({ limit }) => limit).join(', ');
  return `allow ${changed}${warns && `; warns ${warns}`}`;
};

describe('budgets', () => {
  it.each<[string, readonly BudgetLine[], Spending, string]>([
    ['0 denies the first', [line('maxSteps', 0, 0)], { maxSteps: 1 }, 'deny e maxSteps at 1'],
    ['N lets N pass', [line('maxSteps', 10, 6)], { maxSteps: 1 }, 'allow maxSteps 7'],
    [
      'and denies what comes then',
      [line('maxLlmCalls', 2, 2)],
      { maxLlmCalls: 1 },
      'deny e maxLlmCalls at 3',
    ],
    ['at warnAt it warns', [line('maxSteps', 10, 7)], { maxSteps: 1 }, 'allow maxSteps 8; warns maxSteps'],
    ['once', [line('maxSteps', 10, 8, { warned: true })], { maxSteps: 1 }, 'allow maxSteps 9'],
    ['never with warnAt 0', [line('maxSteps', 1, 0, { warnAt: 0 })], { maxSteps: 1 }, 'allow maxSteps 1'],
    ['what is not spent of is not asked', [line('maxSteps', 0, 0)], { maxLlmCalls: 1 }, 'allow '],
  ])('[PL-17][PL-18] %s', (_, lines, spending, expected) => {
    expect(told(lines, spending)).toBe(expected);
  });

  it('[PL-18] a warning about one limit hides no other', () => {
    const lines = [line('maxSteps', 5, 3), line('maxLlmCalls', 5, 3)];
    expect(told(lines, { maxSteps: 1, maxLlmCalls: 1 })).toBe(
      'allow maxSteps 4, maxLlmCalls 4; warns maxSteps, maxLlmCalls',
    );
  });

  it('[PL-17] one exhausted account denies the spending, and nothing is spent from the others', () => {
    const lines = [line('maxSteps', 9, 0), line('maxSteps', 3, 3, { executionId: 'root' })];
    expect(told(lines, { maxSteps: 1 })).toBe('deny root maxSteps at 4');
  });

  it.each<[string, readonly BudgetLine[], object, number | undefined]>([
    ['its own, where less is left', [line('maxOutputTokens', 100_000, 99_950)], { maxOutputTokens: 60 }, 50],
    ['its own', [line('maxOutputTokens', 100_000, 0)], { maxOutputTokens: 60_000 }, 60_000],
    ['the default, where it has none', [line('maxOutputTokens', 100_000, 0)], {}, 8192],
    ['what is left, where that is less', [line('maxOutputTokens', 100, 0)], {}, 100],
    [
      'the default, where its cost is limited',
      [line('maxCost', 1, 0)],
      { inputPrice: 1, outputPrice: 1 },
      8192,
    ],
    ['none, where nothing of it is limited', [line('maxInputTokens', 100, 0)], {}, undefined],
  ])('[PL-17] a request may return as many output tokens as its limit: %s', (_, lines, fields, expected) => {
    const plan = planReservation(lines.map(toCountedLine), { inputTokens: 1, ...fields });
    expect(plan).toMatchObject({ kind: 'reserve', amounts: { maxOutputTokens: BigInt(expected ?? 0) } });
    expect(plan.kind === 'reserve' && plan.maxOutputTokens).toBe(expected);
  });
});
