/**
 * Stage: in place of all that asks a model, where code of another process produces the execution (core/thread/producer.ts). That code puts what it
 * tells into the log itself; here its end is awaited, which becomes the answer of the step.
 * A1. Nothing of it is in this process: where its worker is lost, another attempt goes on waiting.
 * A2. A producer without a sign of its process is ended here too, not by the regular look of workers alone.
 */
import { type Produced, producerLost } from '../../core/thread/producer.ts';
import { end, go, type Verdict } from '../../state/gate.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortError, abortSignal } from '../base/guard.ts';
import type { StepAnswer } from './commit-answer.ts';
import type { FailedStep, ReadStep } from './read-step.ts';

/** Of silence in the log: whether its process is still there. */
const LOOK_MS = 1000;

export async function awaitProducer(
  { store, handover }: Pick<ActivityDependencies, 'store' | 'handover'>,
  { context: { thread, executionId }, active }: Pick<ReadStep, 'context' | 'active'>,
): Promise<Verdict<{ readonly answer: StepAnswer }, FailedStep>> {
  const signal = abortSignal(handover);
  for (;;) {
    const found = await store.producers.find(thread.id, executionId);
    if (!found) return end({ kind: 'failed', error: producerLost(executionId) });
    if (found.produced) return toAnswer(found.produced, active.prompt.name);
    // A2: and read again.
    if (found.overdue) await store.producers.closeLost();
    else await store.events.awaitGrowth(thread.id, found.lastSeq, { signal, withinMs: LOOK_MS });
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
