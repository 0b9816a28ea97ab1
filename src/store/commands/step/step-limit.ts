/** Whether the limits of an agent let the step begin which input and thread ask for (core/thread/step-limit.ts). */
import { planStep } from '../../../core/thread/plan-step.ts';
import { findLimit, type LimitReason } from '../../../core/thread/step-limit.ts';
import type { BeginStep } from '../../port/step.ts';
import { countEnded } from '../base/step-count.ts';
import type { ThreadTransaction } from '../base/thread-transaction.ts';
import type { DueInput } from '../message/drain.ts';

/** The limit that forbids the step which is asked for. Not asked of one that is taken over: it has begun before. */
export async function findLimitOf(
  { row, trx }: ThreadTransaction,
  { limits }: BeginStep,
  { hasTools, wantsAnswer, answering }: DueInput,
): Promise<LimitReason | undefined> {
  const bound = limits?.(row.next_agent ?? row.agent);
  if (!bound) return undefined;
  const turnOpen = row.turn_open === 1 || wantsAnswer || hasTools;
  if (planStep({ newTools: hasTools, turnOpen }) === 'nothing') return undefined;
  const progress = { sideSteps: await countEnded(trx, row), turns: row.turns };
  return findLimit(bound, progress, answering ?? row.side);
}
