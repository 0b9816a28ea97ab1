/**
 * The living descendants that inherit a variable which is set for a thread (definitions §16).
 * H1. Each generation is locked before the next one is read. Creating a child takes its parent's lock: the child is
 *     either found here, or finds the new value there. Locks go from parents to children, as everywhere (port, F3).
 * H2. Below a descendant that does not inherit, none does, since children inherit from their parent; below one that has
 *     ended, they do.
 */
import type { Transaction } from 'kysely';
import type { Tables } from '../../schema/tables.ts';
import { inBatches, readInBatches } from '../base/batches.ts';
import type { CommandContext } from '../base/context.ts';

export async function lockInheritors(
  { rowLocks }: CommandContext,
  trx: Transaction<Tables>,
  threadId: string,
  inherits: (agent: string) => boolean,
): Promise<readonly string[]> {
  const inheritors: string[] = [];
  // A start input that was written by hand may claim a parent that is no ancestor.
  const seen = new Set([threadId]);
  for (let generation = [threadId]; generation.length > 0; ) {
    for (const batch of rowLocks ? inBatches(generation.toSorted()) : []) {
      await trx
        .selectFrom('threads')
        .select('id')
        .where('id', 'in', batch)
        .orderBy('id')
        .forUpdate()
        .execute();
    }
    const children = await readInBatches(generation, (batch) =>
      trx
        .selectFrom('threads as child')
        .innerJoin('threads as parent', 'parent.id', 'child.parent_id')
        .select(['child.id', 'child.agent', 'child.terminated_at'])
        .where('parent.id', 'in', batch)
        .whereRef('child.root_id', '=', 'parent.root_id')
        .execute(),
    );
    const next = children.filter(({ id, agent }) => !seen.has(id) && inherits(agent));
    for (const { id } of next) seen.add(id);
    inheritors.push(...next.filter(({ terminated_at: end }) => end === null).map(({ id }) => id));
    generation = next.map(({ id }) => id);
  }
  return inheritors;
}
