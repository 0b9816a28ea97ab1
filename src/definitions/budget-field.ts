/** Field `budget` of an agent: its limits, and the share of a limit at which a warning is logged. */
import { z } from 'zod';
import { BUDGET_LIMITS } from '../core/governance/budget.ts';
import { WARN_AT } from '../core/governance/run-limit.ts';
import { text } from './field.ts';

const whole = z.int().nonnegative().optional();

export const budget = z
  .strictObject({
    maxSteps: whole,
    maxLlmCalls: whole,
    maxToolCalls: whole,
    maxInputTokens: whole,
    maxOutputTokens: whole,
    maxRuntimeSeconds: z.number().nonnegative().optional(),
    maxCost: z.number().nonnegative().optional(),
    evaluate: text.optional(),
    warnAt: z.number().min(0).max(1, { error: 'must be 1 or less' }).default(WARN_AT),
  })
  .check((context) => {
    if (BUDGET_LIMITS.some((limit) => context.value[limit] !== undefined)) return;
    context.issues.push({
      code: 'custom',
      input: context.value,
      path: [],
      message: `limits nothing: set one of ${BUDGET_LIMITS.join(', ')}, or leave it out`,
    });
  });
