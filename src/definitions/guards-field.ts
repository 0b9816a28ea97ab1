/** Field `guards` of an agent or a prompt, with defaults and minimums applied. */
import { z } from 'zod';
import { toCompactionGuard } from '../core/guard/compaction.ts';
import { toFailureGuard } from '../core/guard/failure.ts';
import { toLoopGuard } from '../core/guard/loop.ts';
import { toRoundGuard } from '../core/guard/round.ts';
import { toTeamGuard } from '../core/guard/team.ts';
import { count, flag } from './field.ts';

const compaction = z
  .union([
    flag,
    z.strictObject({
      thresholdMessages: count.optional(),
      thresholdChars: count.optional(),
      retainRecentMessages: count.optional(),
      byWindow: flag.optional(),
    }),
  ])
  .transform((given) => (given === false ? given : toCompactionGuard(given === true ? {} : given)));

const loops = z
  .union([
    flag,
    z.strictObject({ warning: count.optional(), critical: count.optional(), history: count.optional() }),
  ])
  .transform((given) => (given === false ? given : toLoopGuard(given === true ? {} : given)));

const rounds = z.strictObject({ max: count.optional(), pause: flag.optional() }).transform(toRoundGuard);

const failures = z.strictObject({ max: count.optional() }).transform(toFailureGuard);

const team = z
  .strictObject({
    maxConcurrent: count.optional(),
    maxChildren: count.optional(),
    maxDepth: count.optional(),
    statusBudget: count.optional(),
    statusCooldownSeconds: z.number().nonnegative().optional(),
  })
  .transform(toTeamGuard);

export const guards = z.strictObject({
  compaction: compaction.optional(),
  loops: loops.optional(),
  rounds: rounds.optional(),
  confirm: z.enum(['ask', 'auto']).optional(),
});

/** `team` and `failures` can be set on agents only: they apply whichever prompt of the agent is active. */
export const agentGuards = guards.extend({ failures: failures.optional(), team: team.optional() });
