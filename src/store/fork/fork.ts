/**
 * Forks a thread: a new thread with the messages of another one up to a settled step, in one transaction under the lock
 * of the source.
 * F1. The new thread's row, and all that it has, become visible together: nobody sees or uses half a fork.
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
import { type ExpressionBuilder, type Selectable, sql } from 'kysely';
import type { EventKind, ThreadEventOf } from '../../core/event/thread-event.ts';
import {
  type ChangedSince,
  describeFork,
  FORK_LISTED,
  type ForkedCall,
  type ForkedState,
} from '../../core/thread/forked.ts';
import { canonicalJson } from '../../core/value/canonical-json.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { definedFields } from '../../core/value/record.ts';
import { openVariable, putVariable } from '../env/env.ts';
import { rereadWords } from '../message/message.ts';
import { readEvent } from '../schema/rows.ts';
import type { MessageTable, Tables } from '../schema/tables.ts';
import type { ThreadTable } from '../thread/thread-record.ts';
import { type CommandContext, inThread, unknownThread } from '../transaction/context.ts';
import { toThreadRow } from '../transaction/new-thread.ts';
import { findRow, insertNew, selectRows } from '../transaction/rows.ts';
import { OPEN_CALL, type StepRow } from '../transaction/step-row.ts';
import { type ThreadRow, ThreadTransaction } from '../transaction/thread-transaction.ts';
import type { ForkedThread, ForkThread, StoredOrigin } from './fork-record.ts';

/** Messages that one statement copies: heartbeats run in between. */
const BATCH = 2000;

/**
 * Rejects with `ThreadNotFound`, `InvalidValue` for a step that does not exist, `ThreadBusy` if the first step has not
 * settled, `InvalidStart` if the id of the fork is that of another thread.
 */
export async function forkThread(context: CommandContext, command: ForkThread): Promise<ForkedThread> {
  const { threadId, forkId } = command;
  const digest = hash('sha256', canonicalJson(definedFields({ ...command })));
  return inThread(context, threadId, async (source) => {
    if (source.row.deleted_at !== null) throw unknownThread(context.storeId, threadId);
    const known = await findRow(source.trx, 'threads', { id: forkId }, ['forked_from', 'deleted_at']);
    if (known) return readKnown(source, forkId, known, digest);
    const point = await findPoint(source, command.at);
    const at = point.step;
    const state: ForkedState = point.next === undefined ? 'head' : (command.state ?? 'none');
    const origin: StoredOrigin = { threadId, step: at, digest };
    const given = { agent: command.agent, userId: command.userId };
    const fork = await insertFork(context, source, { forkId, point, origin, ...given });
    const messages = await copyMessages(source, fork, point);
    await copySummaries(source, fork, point);
    if (messages > 0) await copySteps(source, fork, point);
    const withheld = state === 'none' ? [] : await copyState(context, source, fork);
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
    fork.set({ message_count: messages, clock: Math.max(fork.row.clock, point.until) });
    await fork.insertMessage({
      id: `fork-${hash('sha256', forkId).slice(0, 24)}`,
      role: 'user',
      content: describeFork(told),
      silent: true,
      metadata: { forkNote: true },
    });
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
  throw new RuntimeError(
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

interface Point {
  readonly step: number;
  /** The next step of the thread; undefined at the head. */
  readonly next?: Pick<StepRow, 'step' | 'side' | 'first_seq' | 'opened_at'>;
  /** The time of the last message to copy. */
  readonly until: number;
  /** Number of the last step that the messages have, those of sub-prompts included. */
  readonly lastStep: number;
  /** Number of the last event of the step; absent at the head. */
  readonly seq?: number;
}

async function findPoint(source: ThreadTransaction, at: number | undefined): Promise<Point> {
  const { row, threadId } = source;
  if (at !== undefined && (!Number.isSafeInteger(at) || at < 1 || at > row.last_step))
    throw new RuntimeError(
      'InvalidValue',
      `Thread "${threadId}" has no step ${at}: ${row.last_step === 0 ? 'it has none' : `its steps are 1 to ${row.last_step}`}.`,
    );
  const settled = await source
    .select('steps')
    .select(['step', 'execution_id'])
    .where('kind', '!=', 'prompt')
    .where('state', 'not in', ['open', 'abandoned'])
    .where('step', '<=', at ?? row.last_step)
    .where(hasMessages)
    .where(hasNoOpenCall)
    .orderBy('step', 'desc')
    .limit(1)
    .executeTakeFirst();
  const atRest = row.turn_open === 0;
  const head = { until: row.clock, lastStep: row.last_step };
  if (!settled) {
    if (at === undefined && atRest) return { step: 0, ...head };
    throw atRest
      ? new RuntimeError('InvalidValue', `Thread "${threadId}" has no answer at or before its step ${at}.`)
      : new RuntimeError(
          'ThreadBusy',
          `Thread "${threadId}" has no settled step ${at === undefined ? 'yet' : `at or before ${at}`}: wait until it is at rest to fork it.`,
        );
  }
  const { step, execution_id: execution } = settled;
  const next = await source
    .select('steps')
    .select(['step', 'side', 'first_seq', 'opened_at'])
    .where('kind', '!=', 'prompt')
    .where('step', '>', step)
    .orderBy('step')
    .limit(1)
    .executeTakeFirst();
  if (!next || (at === undefined && atRest)) return { step, ...head };
  const { until } = await selectRows(source.trx, 'messages', {
    thread_id: threadId,
    execution_id: execution,
    step,
  })
    .select((eb) => eb.fn.max('created_at').as('until'))
    .executeTakeFirstOrThrow();
  const last = await source
    .select('events', { step })
    .select('seq')
    .where('seq', '<=', next.first_seq)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return { step, next, until, lastStep: next.step - 1, seq: last?.seq ?? 0 };
}

function hasMessages(eb: ExpressionBuilder<Tables, 'steps'>) {
  return eb.exists(
    eb
      .selectFrom('messages')
      .select('messages.id')
      .whereRef('messages.thread_id', '=', 'steps.thread_id')
      .whereRef('messages.execution_id', '=', 'steps.execution_id')
      .whereRef('messages.step', '=', 'steps.step'),
  );
}

function hasNoOpenCall(eb: ExpressionBuilder<Tables, 'steps'>) {
  return eb.not(
    eb.exists(
      eb
        .selectFrom('tool_calls')
        .select('tool_calls.idx')
        .whereRef('tool_calls.thread_id', '=', 'steps.thread_id')
        .whereRef('tool_calls.step', '=', 'steps.step')
        .where('tool_calls.state', 'in', OPEN_CALL),
    ),
  );
}

interface NewFork {
  readonly forkId: string;
  readonly point: Point;
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
    last_step: point.lastStep,
    counted_from: point.lastStep + 1,
    asked_from: point.lastStep + 1,
    forked_from: JSON.stringify(origin),
    changed: change.number,
    moved: change.number,
  } satisfies ThreadRow;
  if (!(await insertNew(source.trx, 'threads', made)))
    throw new RuntimeError(
      'InvalidStart',
      `There is a thread "${forkId}" already: fork under an id of its own.`,
    );
  return new ThreadTransaction(source.trx, made, now, change);
}

type Flow = Pick<Selectable<ThreadTable>, 'agent' | 'next_agent' | 'side' | 'turns' | 'activated'>;

/** Who acts next, as at the point: its agent, the side, and which sides have made their immediate calls. */
async function readFlow(source: ThreadTransaction, { next, lastStep, seq = 0 }: Point): Promise<Flow> {
  const { agent, next_agent, side, turns, activated } = source.row;
  if (!next) return { agent, next_agent, side, turns, activated };
  const row = await source
    .select('events', { type: 'thread.agent' })
    .selectAll()
    .where('seq', '>', seq)
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst();
  const handoff = row && (readEvent(row) as ThreadEventOf<'thread.agent'>);
  const begun = await source
    .select('events', { type: 'step.started', step: next.step })
    .select('seq')
    .where('seq', '>', next.first_seq)
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst();
  const then = handoff?.data.from ?? agent;
  const sides = await source
    .select('steps', { kind: 'model' })
    .select('side')
    .distinct()
    .where('step', '<=', lastStep)
    .execute();
  return {
    agent: then,
    // The step has handed over; the next one began with that.
    next_agent: handoff && begun && handoff.seq < begun.seq ? handoff.data.to : null,
    side: next.side,
    turns: 0,
    activated: JSON.stringify(sides.map((each) => `${then}:${each.side}`)),
  };
}

const MESSAGE_COLUMNS = [
  'id',
  'role',
  'content',
  'name',
  'tool_calls',
  'tool_call_id',
  'created_at',
  'parent_id',
  'depth',
  'silent',
  'attachments',
  'status',
  'tool_status',
  'execution_id',
  'step',
  'reasoning',
  'prompt',
  'parts',
] as const satisfies readonly (keyof MessageTable)[];

/** Returns their number. */
async function copyMessages(
  source: ThreadTransaction,
  fork: ThreadTransaction,
  { until }: Point,
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
      .columns(['thread_id', 'metadata', ...MESSAGE_COLUMNS])
      .expression(
        behind()
          .where('created_at', '<=', end)
          .select([sql<string>`cast(${fork.threadId} as text)`.as('thread_id'), metadata.as('metadata')])
          .select(MESSAGE_COLUMNS),
      )
      .execute();
    if (!last) return fork.count('messages');
    after = end;
    await breathe();
  }
}

async function copySummaries(source: ThreadTransaction, fork: ThreadTransaction, { until }: Point) {
  if (source.row.compacted === 0) return;
  const rows = await source.select('summaries').selectAll().where('until', '<=', until).execute();
  for (const { thread_id: _, ...row } of rows) await fork.insert('summaries', row);
  if (rows.length > 0) fork.set({ compacted: 1 });
}

/** What a request needs to know of the steps of the messages: which side has taken each. */
async function copySteps(source: ThreadTransaction, fork: ThreadTransaction, { lastStep }: Point) {
  const others = await source
    .select('steps')
    .selectAll()
    .where('side', '!=', 'a')
    .where('step', '<=', lastStep)
    .where('state', '!=', 'open')
    .execute();
  for (const { thread_id: _, ...row } of others) await fork.insert('steps', { ...row, first_seq: 0 });
}

/** Copies values, files and variables. Returns the names of secrets that are not copied. */
async function copyState(
  context: CommandContext,
  source: ThreadTransaction,
  fork: ThreadTransaction,
): Promise<readonly string[]> {
  const own = sql<string>`cast(${fork.threadId} as text)`.as('thread_id');
  const { trx } = source;
  await trx
    .insertInto('thread_values')
    .columns(['thread_id', 'key', 'value', 'updated_at'])
    .expression(source.select('thread_values').select(own).select(['key', 'value', 'updated_at']))
    .execute();
  await trx
    .insertInto('thread_files')
    .columns(['thread_id', ...FILE_COLUMNS])
    .expression(source.select('thread_files').select(own).select(FILE_COLUMNS))
    .execute();
  await nameContents(context, fork);
  return copyVariables(context, source, fork);
}

const FILE_COLUMNS = [
  'path',
  'parent',
  'kind',
  'mime_type',
  'size',
  'blob_id',
  'metadata',
  'width',
  'height',
  'thumbnail',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof Tables['thread_files'])[];

/** Each content has one more name for each copied file. */
async function nameContents(context: CommandContext, fork: ThreadTransaction): Promise<void> {
  const files = await fork
    .select('thread_files')
    .select((eb) => ['blob_id as id', eb.fn.countAll<number>().as('names')])
    .where('blob_id', 'is not', null)
    .groupBy('blob_id')
    .orderBy('blob_id')
    .execute();
  for (const { id, names } of files) {
    const linked = await fork.trx
      .updateTable('blobs')
      .set((eb) => ({ names: eb('names', '+', Number(names)) }))
      .where('id', '=', id ?? '')
      .returning('id')
      .executeTakeFirst();
    // A deletion of the source removes files without its lock.
    if (!linked) throw unknownThread(context.storeId, JSON.parse(fork.row.forked_from ?? '{}').threadId);
  }
}

async function copyVariables(
  context: CommandContext,
  source: ThreadTransaction,
  fork: ThreadTransaction,
): Promise<readonly string[]> {
  const place = { scope: 'thread', owner: source.threadId } as const;
  const rows = await selectRows(source.trx, 'env_values', place).selectAll().orderBy('name').execute();
  const isSameOwner = fork.row.user_id === source.row.user_id;
  const withheld: string[] = [];
  for (const row of rows) {
    const { name, type, withheld: scoped } = row;
    if (type === 'secret' && !isSameOwner) withheld.push(name);
    else {
      const to = { scope: 'thread', owner: fork.threadId, name, type, withheld: scoped } as const;
      await putVariable(context, fork.trx, to, openVariable(context, row));
    }
  }
  return withheld;
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
      .where('started_at', 'is not', null);
  const { count } = await calls()
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  const newest = await calls()
    .select(['step', 'call_id as callId', 'name', 'state', 'status'])
    .orderBy('step', 'desc')
    .orderBy('idx', 'desc')
    .limit(FORK_LISTED)
    .execute();
  const own = newest.toReversed().map(
    ({ state, status, ...call }): ForkedCall => ({
      ...call,
      outcome: state === 'unknown' ? 'unknown' : (status ?? 'unknown'),
    }),
  );
  const before = source.row.forked_from === null ? undefined : await findForked(source, source.threadId);
  const inherited = before?.effects.filter(({ step }) => step <= at) ?? [];
  const effects = [...inherited, ...own].slice(-FORK_LISTED);
  const all = inherited.length + (before?.moreEffects ?? 0) + Number(count);
  return { effects, more: all - effects.length };
}

const CHANGES = {
  values: ['value.changed'],
  files: ['file.created', 'file.updated', 'file.deleted'],
} as const satisfies Record<string, readonly EventKind[]>;

/** What is not as it was at the point; the first 100 of each kind. */
async function readChanged(source: ThreadTransaction, { next, seq = 0 }: Point): Promise<ChangedSince> {
  const found: Record<string, readonly string[] | undefined> = {};
  for (const [kind, types] of Object.entries(CHANGES)) {
    const rows = await source
      .select('events')
      .selectAll()
      .where('seq', '>', seq)
      .where('type', 'in', types)
      .orderBy('seq')
      .execute();
    found[kind] = listed(
      rows
        .map(readEvent)
        .flatMap(({ data }) => ('key' in data ? [data.key] : 'path' in data ? [data.path] : [])),
    );
  }
  const variables = await selectRows(source.trx, 'env_values', { scope: 'thread', owner: source.threadId })
    .select('name')
    .where('updated_at', '>=', next?.opened_at ?? 0)
    .orderBy('name')
    .execute();
  return definedFields({ ...found, variables: listed(variables.map(({ name }) => name)) });
}

/** Undefined if there are none. */
function listed(names: readonly (string | undefined)[]): readonly string[] | undefined {
  const distinct = [...new Set(names)].filter((name) => name !== undefined);
  return distinct.length === 0 ? undefined : distinct.slice(0, FORK_LISTED);
}
