/**
 * The living descendants that inherit a variable which is set for a thread (definitions §16).
 * - Each generation is locked before the next one is read. Creating a child takes its parent's lock: the child is
 *   either found here, or finds the new value there. Locks go from parents to children, as everywhere (family-record.ts, F3).
 * - Below a descendant that does not inherit, none does, since children inherit from their parent; below one that has
 *   ended, they do.
 * - What a child's entry does not promote is withheld from its prompts and those of all below it (runtime §7.4), also if the
 *   child had set the variable itself before.
 */
import type { Transaction } from 'kysely';
import type { Tables } from '../schema/tables.ts';
import type { CommandContext } from '../transaction/context.ts';
import { inBatches, readInBatches } from '../transaction/rows.ts';

interface Inheritor {
  readonly id: string;
  /** No prompt of it may show the variable. */
  readonly withheld: boolean;
}

interface InheritedVariable {
  readonly name: string;
  readonly inherits: (agent: string) => boolean;
}

export async function lockInheritors(
  { rowLocks }: CommandContext,
  trx: Transaction<Tables>,
  threadId: string,
  { name, inherits }: InheritedVariable,
): Promise<readonly Inheritor[]> {
  const inheritors: Inheritor[] = [];
  const withheld = new Set<string>();
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
        .leftJoin('children as entry', 'entry.child_id', 'child.id')
        .select(['child.id', 'child.agent', 'child.terminated_at', 'parent.id as above', 'entry.promoted'])
        .where('parent.id', 'in', batch)
        .whereRef('child.root_id', '=', 'parent.root_id')
        .execute(),
    );
    const next = children.filter(({ id, agent }) => !seen.has(id) && inherits(agent));
    for (const { id, above, promoted } of next) {
      seen.add(id);
      // From its parent, or by its own entry.
      const shows = promoted === null || (JSON.parse(promoted) as string[]).includes(name);
      if (withheld.has(above) || !shows) withheld.add(id);
    }
    const living = next.filter(({ terminated_at: end }) => end === null);
    inheritors.push(...living.map(({ id }) => ({ id, withheld: withheld.has(id) })));
    generation = next.map(({ id }) => id);
  }
  return inheritors;
}
