/**
 * How the models of a thread count its requests (core/context/model-count.ts): kept in the thread's row, which every step reads and
 * writes anyway.
 */
import { learnCount, type ModelCounts } from '../../core/context/model-count.ts';
import type { ThreadRow, ThreadTransaction } from '../transaction/thread-transaction.ts';
import type { ModelCallEnd } from './model-call-record.ts';

/** Models of which a thread keeps something; the earliest is forgotten first. */
const MAX_MODELS = 16;

export function countsOf({ model_counts: text }: Pick<ThreadRow, 'model_counts'>): ModelCounts {
  return text === null ? {} : JSON.parse(text);
}

/** Keeps what an ended call has shown, if it has. Also logs, once for each model, that its provider seems to cut requests. */
export function keepCount(
  thread: ThreadTransaction,
  { step, attempt, call, counted: shown }: Pick<ModelCallEnd, 'step' | 'attempt' | 'call' | 'counted'>,
): void {
  if (!shown) return;
  const { model, ...counted } = shown;
  const { [model]: known, ...others } = countsOf(thread.row);
  const count = learnCount(known, counted);
  const entries = [...Object.entries(others), [model, count] as const].slice(-MAX_MODELS);
  const text = JSON.stringify(Object.fromEntries(entries));
  if (text !== thread.row.model_counts) thread.set({ model_counts: text });
  if (counted.undercounted && !known?.told)
    thread.emit('context.undercounted', { call, model, ...counted.undercounted }, { step, attempt });
}
