/**
 * Stage: replaces all stages that ask a model if code of another process produces the execution
 * (core/thread/producer.ts). That code writes to the log itself; this stage waits for its end, which becomes the answer
 * of the step.
 * A1. This process holds no state of the production: if its worker is lost, another attempt goes on waiting.
 * A2. A producer whose process shows no sign of life is ended here too, not only by the workers' regular check.
 */
import { type Produced, producerLost } from '../../core/thread/producer.ts';
import { end, go, type Verdict } from '../../state/gate.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortError, abortSignal } from '../base/guard.ts';
import type { StepAnswer } from './commit-answer.ts';
import type { FailedStep, ReadStep } from './read-step.ts';

/** Milliseconds without a new row in the log before the producer is checked again. */
const CHECK_INTERVAL_MS = 1000;

export async function awaitProducer(
  { store, handover }: Pick<ActivityDependencies, 'store' | 'handover'>,
  { context: { thread, executionId }, active }: Pick<ReadStep, 'context' | 'active'>,
): Promise<Verdict<{ readonly answer: StepAnswer }, FailedStep>> {
  const signal = abortSignal(handover);
  for (;;) {
    const found = await store.producers.find(thread.id, executionId);
    if (!found) return end({ kind: 'failed', error: producerLost(executionId) });
    if (found.produced) return toAnswer(found.produced, active.prompt.name);
    // A2: ended here, then read again.
    if (found.overdue) await store.producers.closeLost();
    else await store.events.awaitGrowth(thread.id, found.lastSeq, { signal, withinMs: CHECK_INTERVAL_MS });
    if (signal.aborted) throw abortError(handover);
  }
}

function toAnswer(produced: Produced, prompt: string): Verdict<{ readonly answer: StepAnswer }, FailedStep> {
  if (!produced.ok) return end({ kind: 'failed', error: produced.error });
  const { text: content, usage } = produced;
  return go({
    answer: { content, toolCalls: [], model: '', finishReason: 'produced', usage, prompt, ends: 'produced' },
  });
}
