/**
 * How the models of a thread count its requests (core/context/model-count.ts): kept in the thread's row, which every step reads and
 * writes anyway.
 */
import { type CountedRequest, learnCount, type ModelCounts } from '../../../core/context/model-count.ts';
import type { ThreadRow, ThreadTransaction } from './thread-transaction.ts';

/** Models of which a thread keeps something; the earliest is forgotten first. */
const MAX_MODELS = 16;

export function countsOf({ model_counts: text }: Pick<ThreadRow, 'model_counts'>): ModelCounts {
  return text === null ? {} : (JSON.parse(text) as ModelCounts);
}

/** Returns true if the provider seems to cut the requests of this model, and the log does not say so yet. */
export function keepCount(thread: ThreadTransaction, model: string, counted: CountedRequest): boolean {
  const { [model]: known, ...others } = countsOf(thread.row);
  const count = learnCount(known, counted);
  const entries = [...Object.entries(others), [model, count] as const].slice(-MAX_MODELS);
  const text = JSON.stringify(Object.fromEntries(entries));
  if (text !== thread.row.model_counts) thread.set({ model_counts: text });
  return count.told === true && known?.told !== true;
}
