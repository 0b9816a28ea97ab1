/** A step that has begun, as its workflow receives it. */
import type { BegunStep } from '../../port/thread-store.ts';
import type { ThreadTransaction } from '../base/thread-transaction.ts';
import type { StepCommand } from './produced-step.ts';

/** Adds the execution's id, if the workflow has proposed another one. */
export function withExecutionId(begun: BegunStep, executionId: string, asked: StepCommand): BegunStep {
  const tells = executionId !== asked.executionId && (begun.kind === 'call' || begun.kind === 'stored');
  const described = tells ? { ...begun, executionId } : begun;
  return described.kind === 'call' && asked.produced ? { ...described, produced: true } : described;
}

/** Relaxes the commit of a call: the workflow learns of a call only from the commit that ends it. */
export function relaxCall(thread: ThreadTransaction, begun: BegunStep): BegunStep {
  if (begun.kind === 'call') thread.relax();
  return begun;
}

export function stepOf(begun: BegunStep): number | null {
  if (begun.kind === 'call') return begun.step;
  return begun.kind === 'stored' ? begun.record.step : null;
}
