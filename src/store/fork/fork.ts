/**
 * Forks a thread: a new thread with the messages of another one up to a settled step, in one transaction under the lock
 * of the source.
 * - The new thread's row, and all that it has, become visible together: nobody sees or uses half a fork.
 * - The id of the fork is the key: the same command again finds what the first one made; another one is refused.
 * - Messages keep their ids, executions, steps and times; `metadata.forkedFrom` names the thread that they were written
 *   in. New steps have higher numbers, so no call has the key of a copied one. The calls themselves are not copied: none
 *   of them is open, run again or reconciled here, and money spent on them is counted once, in the source.
 * - Files are copied by reference: each content has one more name, and outlives the source.
 * - Variables are encrypted again, for their new place. Secrets are copied only for the same owner.
 * - Children, effects, waits and what is in line stay with the source.
 */
import { hash } from 'node:crypto';
import { setImmediate as breathe } from 'node:timers/promises';
import { sql } from 'kysely';
import type { ThreadEventOf } from '../../core/event/thread-event.ts';
import { describeFork, type ForkedCall, type ForkedState } from '../../core/thread/forked.ts';
import { MAX_LISTED } from '../../core/thread/past-call.ts';
import { canonicalJson } from '../../core/value/canonical-json.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { definedFields } from '../../core/value/record.ts';
import { insertNote, rereadWords } from '../message/message.ts';
import { findInLine } from '../message/supersede.ts';
import { toPastCall } from '../message/superseded-tail.ts';
import { COPIED_COLUMNS, readEvent } from '../schema/rows.ts';
import { type CommandContext, inThread, unknownThread } from '../transaction/context.ts';
import { toThreadRow } from '../transaction/new-thread.ts';
import { findRow, insertNew } from '../transaction/rows.ts';
import { type ThreadRow, ThreadTransaction } from '../transaction/thread-transaction.ts';
import { type ForkPoint, findForkPoint, readFlow } from './fork-point.ts';
import type { ForkedThread, MakeFork, StoredOrigin } from './fork-record.ts';
import { copyAttached, copyState, nameContents, readChanged } from './fork-state.ts';

/** Messages that one statement copies: heartbeats run in between. */
const BATCH = 2000;

/**
 * Rejects with `ThreadNotFound`, `InvalidValue` for a step that does not exist, `ThreadBusy` if the first step has not
 * settled, `InvalidStart` if the id of the fork is that of another thread.
 */
export async function makeFork(context: CommandContext, command: MakeFork): Promise<ForkedThread> {
  const { threadId, forkId } = command;
  const digest = hash('sha256', canonicalJson(definedFields({ ...command })));
  return inThread(context, threadId, async (source) => {
    if (source.row.deleted_at !== null) throw unknownThread(context.storeId, threadId);
    const known = await findRow(source.trx, 'threads', { id: forkId }, ['forked_from', 'deleted_at']);
    if (known) return readKnown(source, forkId, known, digest);
    if (await findInLine(source))
      throw new RuntimeError(
        'ThreadBusy',
        `Thread "${threadId}" is about to answer a message again: wait until it is at rest to fork it.`,
      );
    const point = await findForkPoint(source, command.at);
    const at = point.step;
    const state: ForkedState = point.next === undefined ? 'head' : (command.state ?? 'none');
    const origin: StoredOrigin = { threadId, step: at, digest };
    const given = { agent: command.agent, userId: command.userId };
    const fork = await insertFork(context, source, { forkId, point, origin, ...given });
    const messages = await copyMessages(source, fork, point);
    await copySummaries(source, fork, point);
    const twoSides = await copySteps(source, fork, point);
    const withheld = state === 'none' ? [] : await copyState(context, source, fork);
    if (state === 'none') await copyAttached(source, fork, point);
    await nameContents(context, source, fork);
    const { effects, more } = await readEffects(source, at);
    const changed = state === 'current' ? await readChanged(source, point) : undefined;
    const told: ForkedEvent['data'] = definedFields({
      from: threadId,
      at,
      asked: command.at === undefined || command.at === at ? undefined : command.at,
      state,
      agent: fork.row.agent,
      messages,
      effects,
      moreEffects: more || undefined,
      changed,
      withheld: withheld.length > 0 ? withheld : undefined,
    });
    fork.emit('thread.forked', told);
    await rereadWords(fork);
    fork.set({ message_count: messages });
    const id = `fork-${hash('sha256', forkId).slice(0, 24)}`;
    await insertNote(fork, { id, content: describeFork(told), metadata: { forkNote: true } }, twoSides);
    await fork.flush();
    return { threadId: forkId, ...told };
  });
}

type ForkedEvent = ThreadEventOf<'thread.forked'>;

async function readKnown(
  source: ThreadTransaction,
  forkId: string,
  { forked_from: stored, deleted_at: deleted }: Pick<ThreadRow, 'forked_from' | 'deleted_at'>,
  digest: string,
): Promise<ForkedThread> {
  const origin = stored === null ? null : (JSON.parse(stored) as StoredOrigin);
  const first = deleted === null ? await findForked(source, forkId) : undefined;
  if (origin?.digest === digest && first) return { threadId: forkId, ...first };
  throw taken(forkId, origin);
}

function taken(forkId: string, origin: StoredOrigin | null = null): RuntimeError {
  return new RuntimeError(
    'InvalidStart',
    `There is a thread "${forkId}" already${origin ? `, another fork of "${origin.threadId}"` : ''}: fork under an id of its own.`,
  );
}

/** What the first event of a fork says; undefined if the thread is no fork. */
async function findForked({ trx }: ThreadTransaction, id: string): Promise<ForkedEvent['data'] | undefined> {
  const row = await findRow(trx, 'events', { thread_id: id, seq: 1 });
  const event = row && readEvent(row);
  return event?.type === 'thread.forked' ? event.data : undefined;
}

interface NewFork {
  readonly forkId: string;
  readonly point: ForkPoint;
  readonly origin: StoredOrigin;
  readonly agent: string | undefined;
  readonly userId: string | undefined;
}

/** A fork begins with the counters and budgets of a new thread: what the source has spent is not charged again. */
async function insertFork(
  context: CommandContext,
  source: ThreadTransaction,
  { forkId, point, origin, agent, userId }: NewFork,
): Promise<ThreadTransaction> {
  const { row, change } = source;
  const now = context.now();
  const made = {
    ...toThreadRow(
      {
        threadId: forkId,
        agent: row.agent,
        userId: userId ?? row.user_id,
        organizationId: row.organization_id,
        arguments: {},
        parentId: null,
        rootId: forkId,
        name: row.name,
      },
      now,
    ),
    ...(agent === undefined ? await readFlow(source, point) : { agent }),
    arguments: row.arguments,
    // A fork may do no more than its source.
    run_context: row.run_context,
    model_counts: row.model_counts,
    greeted: 1,
    // What the fork writes is later than all that it has copied.
    clock: Math.max(now, point.until),
    last_step: point.lastStep,
    counted_from: point.lastStep + 1,
    asked_from: point.lastStep + 1,
    forked_from: JSON.stringify(origin),
    changed: change.number,
    moved: change.number,
  } satisfies ThreadRow;
  if (!(await insertNew(source.trx, 'threads', made))) throw taken(forkId);
  return new ThreadTransaction(source.trx, made, now, change);
}

/** Returns their number. */
async function copyMessages(
  source: ThreadTransaction,
  fork: ThreadTransaction,
  { until }: ForkPoint,
): Promise<number> {
  const { trx, threadId } = source;
  const origin = `"forkedFrom":${JSON.stringify(threadId)}`;
  // A message of a fork keeps the origin that it has.
  const metadata = sql<string>`case when substr(metadata, 1, 14) = '{"forkedFrom":' then metadata
    when metadata = '{}' then cast(${`{${origin}}`} as text)
    else cast(${`{${origin},`} as text) || substr(metadata, 2) end`;
  for (let after = -1; ; ) {
    const behind = () =>
      source.select('messages').where('created_at', '>', after).where('created_at', '<=', until);
    const last = await behind()
      .select('created_at')
      .orderBy('created_at')
      .offset(BATCH - 1)
      .limit(1)
      .executeTakeFirst();
    const end = last?.created_at ?? until;
    await trx
      .insertInto('messages')
      .columns(['thread_id', 'metadata', ...COPIED_COLUMNS])
      .expression(
        behind()
          .where('created_at', '<=', end)
          .select([sql<string>`cast(${fork.threadId} as text)`.as('thread_id'), metadata.as('metadata')])
          .select(COPIED_COLUMNS),
      )
      .execute();
    if (!last) return fork.count('messages');
    after = end;
    await breathe();
  }
}

async function copySummaries(source: ThreadTransaction, fork: ThreadTransaction, { until }: ForkPoint) {
  if (source.row.compacted === 0) return;
  const rows = await source.select('summaries').selectAll().where('until', '<=', until).execute();
  for (const { thread_id: _, ...row } of rows) await fork.insert('summaries', row);
  if (rows.length > 0) fork.set({ compacted: 1 });
}

/** What a request needs to know of the steps of the messages: which side has taken each. True if both have. */
async function copySteps(source: ThreadTransaction, fork: ThreadTransaction, { lastStep }: ForkPoint) {
  const others = await source
    .select('steps')
    .selectAll()
    .where('side', '!=', 'a')
    .where('step', '<=', lastStep)
    .where('state', '!=', 'open')
    .execute();
  for (const { thread_id: _, ...row } of others) await fork.insert('steps', { ...row, first_seq: 0 });
  return others.length > 0;
}

/** The calls of the steps up to this one that may not be made twice, also those of the threads that this is a fork of. */
async function readEffects(
  source: ThreadTransaction,
  at: number,
): Promise<{ effects: readonly ForkedCall[]; more: number }> {
  const calls = () =>
    source
      .select('tool_calls', { idempotent: 0, state: ['done', 'unknown'] })
      .where('step', '<=', at)
      // Those of a part that was superseded are not in the history.
      .where('step', 'in', source.select('messages').select('step').where('step', '<=', at))
      .where('started_at', 'is not', null);
  const { count } = await calls()
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  const newest = await calls()
    .select(['step', 'call_id', 'name', 'state', 'status'])
    .orderBy('step', 'desc')
    .orderBy('idx', 'desc')
    .limit(MAX_LISTED)
    .execute();
  const own = newest.toReversed().map((call): ForkedCall => ({ step: call.step, ...toPastCall(call) }));
  const before = source.row.forked_from === null ? undefined : await findForked(source, source.threadId);
  const inherited = before?.effects.filter(({ step }) => step <= at) ?? [];
  const effects = [...inherited, ...own].slice(-MAX_LISTED);
  const all = inherited.length + (before?.moreEffects ?? 0) + Number(count);
  return { effects, more: all - effects.length };
}
