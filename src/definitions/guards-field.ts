/** The `guards` of an agent or a prompt: defaults and floors applied. */
import { z } from 'zod';
import { toCompactionGuard } from '../core/guard/compaction.ts';
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

export const guards = z.strictObject({ compaction: compaction.optional() });
