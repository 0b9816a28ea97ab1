/** The `guards` of an agent or a prompt: defaults and floors applied. */
import { z } from 'zod';
import { toLoopGuard } from '../core/guard/loop.ts';
import { toRoundGuard } from '../core/guard/round.ts';
import { count, flag } from './field.ts';

const loops = z
  .union([
    flag,
    z.strictObject({ warning: count.optional(), critical: count.optional(), history: count.optional() }),
  ])
  .transform((given) => (given === false ? given : toLoopGuard(given === true ? {} : given)));

const rounds = z.strictObject({ max: count.optional() }).transform(toRoundGuard);

export const guards = z.strictObject({ loops: loops.optional(), rounds: rounds.optional() });
