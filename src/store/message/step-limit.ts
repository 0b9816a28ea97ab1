/**
 * Decides whether an agent's limits allow the step that input and thread ask for (core/thread/step-limit.ts). Pure: the
 * step checks under its thread's lock (step/begin-step.ts), and hooks get the expected verdict in advance (pending.ts).
 */
import type { Side } from '../../core/author/thread-execution.ts';
import { planStep } from '../../core/thread/plan-step.ts';
import { findLimit, type LimitReason, type Progress } from '../../core/thread/step-limit.ts';
import type { BeginStep } from '../step/step-record.ts';
import type { ThreadRow } from '../transaction/thread-transaction.ts';
import type { InputWish } from './drain.ts';

export interface AskedStep extends Progress {
  readonly thread: Pick<ThreadRow, 'agent' | 'next_agent' | 'turn_open'>;
  readonly input: InputWish;
  /** The side that would act. */
  readonly side: Side;
}

/**
 * Returns the limit that forbids the requested step; undefined if none does, or if it calls neither model nor tools.
 * Not called for a step that is taken over: it has begun already.
 */
export function findLimitOf(
  limits: BeginStep['limits'],
  { thread, input: { hasTools, wantsAnswer }, side, ...progress }: AskedStep,
): LimitReason | undefined {
  const bound = limits?.(thread.next_agent ?? thread.agent);
  if (!bound) return undefined;
  const turnOpen = thread.turn_open === 1 || wantsAnswer || hasTools;
  if (planStep({ newTools: hasTools, turnOpen }) === 'nothing') return undefined;
  return findLimit(bound, progress, side);
}
