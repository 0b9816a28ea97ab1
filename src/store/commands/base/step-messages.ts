/**
 * The messages of a step: its answer, what queued tools came with, the results of its calls. They are found by the step's execution and its
 * number in it, of which the store has an index: by the number alone, the whole thread would be searched. They are put in order here: asked
 * to, SQLite would walk the whole thread in order instead of taking that index.
 */
import type { Kysely } from 'kysely';
import type { Tables } from '../../schema/tables.ts';

export function selectStepMessages(db: Kysely<Tables>, threadId: string, step: number) {
  return db
    .selectFrom('messages')
    .where('thread_id', '=', threadId)
    .where('step', '=', step)
    .where('execution_id', '=', (query) =>
      query
        .selectFrom('steps')
        .select('execution_id')
        .where('thread_id', '=', threadId)
        .where('step', '=', step),
    );
}

export const byTime = (
  { created_at: a }: { readonly created_at: number },
  { created_at: b }: { readonly created_at: number },
) => Number(a) - Number(b);
