/**
 * The messages of a step: its answer, the messages with queued tools, the results of its calls. They are found by the
 * step's execution and its number, for which there is an index; by the number alone the whole thread would be searched.
 * Sort them in code: with an `order by`, SQLite would scan the whole thread instead of using that index.
 */
import type { Kysely } from 'kysely';
import type { Tables } from '../schema/tables.ts';
import { selectRows } from './rows.ts';

export function selectStepMessages(db: Kysely<Tables>, threadId: string, step: number) {
  const key = { thread_id: threadId, step };
  const execution = selectRows(db, 'steps', key).select('execution_id');
  return selectRows(db, 'messages', key).where('execution_id', '=', execution);
}

export const byTime = (
  { created_at: a }: { readonly created_at: number },
  { created_at: b }: { readonly created_at: number },
) => a - b;
