/**
 * The variables that a child begins with (definitions §16): those of its parent that are not scoped by the child's
 * agent, and those given for it. Encryption binds a value to its place, so each is encrypted again; without any, no key
 * is needed.
 */
import type { EnvType } from '../../core/author/thread-env.ts';
import { variableProblem } from '../../core/project/env.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { openVariable, putVariable } from '../env/env.ts';
import type { CommandContext } from '../transaction/context.ts';
import { selectRows } from '../transaction/rows.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import type { GivenVariable } from './child-record.ts';

export interface ChildEnv {
  readonly childId: string;
  readonly inherits: (name: string) => boolean;
  /** `NewChild.promoted`. */
  readonly promoted: readonly string[] | undefined;
  /** Overrides what is inherited. */
  readonly given: readonly GivenVariable[];
}

interface Entry {
  readonly value: string;
  readonly type: EnvType;
  readonly withheld: boolean;
}

/** `thread` is the parent's. Throws `InvalidVariable`. */
export async function copyEnv(
  context: CommandContext,
  thread: ThreadTransaction,
  { childId, inherits, promoted, given }: ChildEnv,
): Promise<void> {
  const rows = await selectRows(thread.trx, 'env_values', { scope: 'thread', owner: thread.threadId })
    .selectAll()
    .orderBy('name')
    .execute();
  const stored = await listStored(thread, childId);
  const entries = new Map<string, Entry>();
  for (const row of rows) {
    if (stored.has(row.name) || !inherits(row.name)) continue;
    const withheld = row.withheld === 1 || (promoted !== undefined && !promoted.includes(row.name));
    entries.set(row.name, { value: openVariable(context, row), type: row.type, withheld });
  }
  const types = new Map(rows.map(({ name, type }) => [name, type]));
  for (const { name, value, type, withheld = false } of given) {
    const problem = variableProblem(name, value, type);
    if (problem !== undefined) throw new RuntimeError('InvalidVariable', problem);
    entries.set(name, { value, type: type ?? types.get(name) ?? 'secret', withheld });
  }
  for (const [name, { value, type, withheld }] of entries) {
    const place = { scope: 'thread', owner: childId, name, type, withheld: withheld ? 1 : 0 } as const;
    await putVariable(context, thread.trx, place, value);
  }
}

/** Names of the variables that were stored for the child before its thread was made; they win over what it inherits. */
async function listStored({ trx }: ThreadTransaction, childId: string): Promise<ReadonlySet<string>> {
  const rows = await selectRows(trx, 'env_values', { scope: 'thread', owner: childId })
    .select('name')
    .execute();
  return new Set(rows.map(({ name }) => name));
}
