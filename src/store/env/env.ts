/**
 * Variables in the store (definitions §16). Each write is one upsert of the value, its type and its key, so all three
 * are the last writer's.
 */
import type { Kysely, Selectable, Transaction } from 'kysely';
import type { EnvType } from '../../core/author/thread-env.ts';
import { type StoredVariable, variableProblem } from '../../core/project/env.ts';
import { isRuntimeError, RuntimeError } from '../../core/value/error.ts';
import { decrypt, encrypt } from '../crypto/encryption.ts';
import type { Tables } from '../schema/tables.ts';
import type { CommandContext } from '../transaction/context.ts';
import { deleteRow, findRow, selectRows, updateRow } from '../transaction/rows.ts';
import { statement } from '../transaction/statement.ts';
import { lockInheritors } from './env-inheritors.ts';
import type { EnvEntry, EnvOwner, EnvTable, RotatedEnv, SetEnv, ThreadVariable } from './env-record.ts';

type EnvRow = Selectable<EnvTable>;
type Place = Pick<EnvRow, 'scope' | 'owner'>;

function toPlace(owner: EnvOwner): Place {
  if ('thread' in owner) return { scope: 'thread', owner: owner.thread };
  if ('user' in owner) return { scope: 'user', owner: owner.user };
  return { scope: 'instance', owner: '' };
}

/**
 * Sets a variable and returns its type. Rejects with `InvalidVariable`, and with `ThreadTerminated` for a variable of
 * a thread that has ended.
 */
export async function setEnv(context: CommandContext, command: SetEnv): Promise<EnvType> {
  const { owner, name, value, type: asked, known, inherits = inheritsNone, withheld = false } = command;
  const problem = variableProblem(name, value, asked);
  if (problem !== undefined) throw new RuntimeError('InvalidVariable', problem);
  // Throws without a key, before anything is written.
  context.keys();
  const place = toPlace(owner);
  return context.db.transaction().execute(async (trx) => {
    const inheritors =
      'thread' in owner ? await lockInheritors(context, trx, owner.thread, { name, inherits }) : [];
    if ('thread' in owner) await refuseFinal(trx, owner.thread);
    const type = asked ?? (await findType(trx, place, name)) ?? known ?? 'secret';
    await putVariable(context, trx, { ...place, name, type, withheld: withheld ? 1 : 0 }, value);
    for (const { id, withheld: below } of inheritors) {
      const there = { scope: 'thread', owner: id } as const;
      // A descendant keeps its own type, but what is secret here is never a text below.
      const own = asked ?? (type === 'secret' ? type : ((await findType(trx, there, name)) ?? type));
      await putVariable(context, trx, { ...there, name, type: own, withheld: below ? 1 : 0 }, value);
    }
    return type;
  });
}

const inheritsNone = () => false;

/** Encrypts a value for its place and stores it; the last writer wins. */
export async function putVariable(
  context: CommandContext,
  trx: Transaction<Tables>,
  { withheld, ...place }: Pick<EnvRow, 'scope' | 'owner' | 'name' | 'type' | 'withheld'>,
  value: string,
): Promise<void> {
  const { keyId: key_id, data } = encrypt(context.keys(), place, value);
  const written = { type: place.type, key_id, value: data, updated_at: context.now(), withheld };
  await trx
    .insertInto('env_values')
    .values({ ...place, ...written })
    .onConflict((conflict) => conflict.columns(['scope', 'owner', 'name']).doUpdateSet(written))
    .execute();
}

/** Throws `ThreadTerminated`. A thread that does not exist yet may have variables. */
async function refuseFinal(trx: Transaction<Tables>, threadId: string): Promise<void> {
  const thread = await findRow(trx, 'threads', { id: threadId }, ['terminated_at']);
  if (!thread || thread.terminated_at === null) return;
  throw new RuntimeError(
    'ThreadTerminated',
    `Thread "${threadId}" is terminated; its variables cannot be changed.`,
  );
}

async function findType(
  trx: Transaction<Tables>,
  { scope, owner }: Place,
  name: string,
): Promise<EnvType | undefined> {
  const row = await findRow(trx, 'env_values', { scope, owner, name }, ['type']);
  return row?.type;
}

/** Removes a variable; false if there was none. Descendants keep their copies. */
export async function unsetEnv(context: CommandContext, owner: EnvOwner, name: string): Promise<boolean> {
  return deleteRow(context.db, 'env_values', { ...toPlace(owner), name });
}

/** The owner's variables, ordered by name. A text that cannot be decrypted has no value. */
export async function listEnv(context: CommandContext, owner: EnvOwner): Promise<readonly EnvEntry[]> {
  const place = toPlace(owner);
  const rows = await selectRows(context.db, 'env_values', { scope: place.scope, owner: place.owner })
    .selectAll()
    .orderBy('name')
    .execute();
  return rows.map((row) => ({
    name: row.name,
    type: row.type,
    ...(row.type === 'text' ? tryToOpen(context, row) : {}),
    keyId: row.key_id,
    updatedAt: row.updated_at,
  }));
}

const SOURCES: readonly ThreadVariable['source'][] = ['thread', 'user', 'instance'];

/** What the thread may read, ordered by name, the narrowest source first. No value is decrypted. */
export async function listThreadEnv(
  { db }: CommandContext,
  threadId: string,
  userId: string | null,
): Promise<readonly ThreadVariable[]> {
  const rows = await (userId === null
    ? selectOwn(db, threadId)
    : selectWithUsers(db, threadId, userId)
  ).execute();
  const sorted = rows.toSorted(
    (a, b) => compare(a.name, b.name) || SOURCES.indexOf(a.scope) - SOURCES.indexOf(b.scope),
  );
  return sorted.map(({ name, type, scope: source, updated_at: updatedAt }, index) => ({
    name,
    type,
    source,
    updatedAt,
    ...(sorted[index - 1]?.name === name && { overridden: true }),
  }));
}

const compare = (a: string, b: string) => (a < b ? -1 : Number(a > b));

/** Without a value if its key is missing. */
export function tryToOpen(context: CommandContext, row: EnvRow): { value?: string } {
  try {
    return { value: openVariable(context, row) };
  } catch (error) {
    if (isRuntimeError(error, 'InvalidConfiguration')) return {};
    throw error;
  }
}

/** Throws `InvalidConfiguration` if the key is missing. */
export function openVariable({ keys }: CommandContext, row: EnvRow): string {
  return decrypt(keys(), row, { keyId: row.key_id, data: row.value });
}

const selectOwn = statement((db, threadId: string) =>
  selectPlaces(db, [{ scope: 'thread', owner: threadId }]),
);
const selectWithUsers = statement((db, threadId: string, userId: string) =>
  selectPlaces(db, [
    { scope: 'thread', owner: threadId },
    { scope: 'user', owner: userId },
  ]),
);

function selectPlaces(db: Kysely<Tables>, own: readonly Place[]) {
  const places: Place[] = [...own, { scope: 'instance', owner: '' }];
  return db
    .selectFrom('env_values')
    .selectAll()
    .where((eb) => eb.or(places.map(({ scope, owner }) => eb.and({ scope, owner }))))
    .orderBy('name');
}

/**
 * All values of the thread, its user and the instance, ordered by name, including those that a narrower scope
 * overrides.
 */
export async function readEnv(
  context: CommandContext,
  threadId: string,
  userId: string | null,
): Promise<readonly StoredVariable[]> {
  const { db } = context;
  const asked = userId === null ? selectOwn(db, threadId) : selectWithUsers(db, threadId, userId);
  const rows = await asked.execute();
  return rows.map((row) => ({
    scope: row.scope,
    name: row.name,
    type: row.type,
    value: openVariable(context, row),
    withheld: row.withheld === 1 || undefined,
  }));
}

/**
 * Encrypts all values with the active key that have another one; all keys in use must be known. Each value is a
 * separate write.
 */
export async function rotateEnv(context: CommandContext): Promise<RotatedEnv> {
  const keys = context.keys();
  const rows = await context.db
    .selectFrom('env_values')
    .selectAll()
    .where('key_id', '!=', keys.active)
    .execute();
  // A value that cannot be decrypted throws before anything is written.
  const opened = rows.map((row) => ({ row, value: openVariable(context, row) }));
  let rotated = 0;
  for (const { row, value } of opened) {
    const { keyId: key_id, data } = encrypt(keys, row, value);
    // Unless it has been set in the meantime.
    const { scope, owner, name, value: before } = row;
    const place = { scope, owner, name, value: before };
    if (await updateRow(context.db, 'env_values', place, { key_id, value: data })) rotated += 1;
  }
  return { keyId: keys.active, rotated };
}
