/** Whether the limits of an agent let the step begin which input and thread ask for (core/thread/step-limit.ts). */
import { planStep } from '../../../core/thread/plan-step.ts';
import { findLimit, type LimitReason } from '../../../core/thread/step-limit.ts';
import type { BeginStep } from '../../port/step.ts';
import { countEnded } from '../base/step-count.ts';
import type { ThreadTransaction } from '../base/thread-transaction.ts';
import type { DueInput } from '../message/drain.ts';
import { toSeen, type UnseenStep } from './unseen-step.ts';

/** The limit that forbids the step which is asked for. One that is stored has begun before: taking it over is no step. */
export async function findLimitOf(
  thread: ThreadTransaction,
  { limits }: BeginStep,
  { due, unseen }: { readonly due: DueInput; readonly unseen: UnseenStep | undefined },
): Promise<LimitReason | undefined> {
  const { row, trx } = thread;
  const bound = limits?.(row.next_agent ?? row.agent);
  if (!bound) return undefined;
  const answerDue = row.answer_due === 1 || due.wantsAnswer;
  const turnOpen = row.turn_open === 1 || answerDue || due.hasTools;
  const plan = planStep({ unseen: toSeen(unseen), newTools: due.hasTools, answerDue, turnOpen });
  if (plan.do !== 'run_tools' && plan.do !== 'call_model') return undefined;
  const progress = { sideSteps: await countEnded(trx, row), turns: row.turns };
  return findLimit(bound, progress, due.answering ?? row.side);
}
