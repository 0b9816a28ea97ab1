/**
 * Reads of a family: the registry of a parent, a thread's descendants, the call that created or messaged a child.
 *
 * What a thread's model may know of its subagents, and how often it has asked in its execution: read from the rows of
 * its calls and its children.
 */
import type { Selectable, Transaction } from 'kysely';
import { STATUS_QUERY, type SubagentState, toStatusGuard } from '../../core/guard/status-query.ts';
import type { ChildStart } from '../../core/thread/step.ts';
import { isOwnStatus } from '../../core/thread/subagent-report.ts';
import { groupBy } from '../../core/value/group-by.ts';
import { toThreadRecord } from '../schema/rows.ts';
import type { Tables } from '../schema/tables.ts';
import { type CommandContext, inSnapshot, unknownThread } from '../transaction/context.ts';
import type { CallKey } from '../transaction/from-run.ts';
import { selectFamily } from '../transaction/read.ts';
import { findRow, selectRows } from '../transaction/rows.ts';
import { selectStepCalls } from '../transaction/step-row.ts';
import { isAtWork, readTeam } from '../transaction/team-limit.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { type ChildRow, findChild, readStart, toChildRecord, toStart } from './child.ts';
import type { ChildCall, ChildRecord, FamilyMember, TeamStatus } from './family-record.ts';

/** Oldest first. */
export async function listChildren(
  { db }: CommandContext,
  parentId: string,
): Promise<readonly ChildRecord[]> {
  const rows = await db
    .selectFrom('children')
    .selectAll()
    .where('parent_id', '=', parentId)
    .orderBy('created_at')
    .orderBy('child_id')
    .execute();
  return rows.map(toChildRecord);
}

/** True if there is a living, resumable child of another agent than those of `except`. */
export async function hasResumable(
  { db }: CommandContext,
  parentId: string,
  { except = [] }: { readonly except?: readonly string[] } = {},
): Promise<boolean> {
  let living = selectRows(db, 'children', { parent_id: parentId, resumable: 1, terminated_at: null }).select(
    'child_id',
  );
  if (except.length > 0) living = living.where('agent', 'not in', [...except]);
  const child = await living.limit(1).executeTakeFirst();
  return child !== undefined;
}

/** Null if the thread is in no parent's registry. */
export async function getChild({ db }: CommandContext, childId: string): Promise<ChildRecord | null> {
  const row = await findChild(db, childId);
  return row ? toChildRecord(row) : null;
}

function unstarted(db: CommandContext['db'], parentId: string) {
  return db
    .selectFrom('children')
    .innerJoin('threads', 'threads.id', 'children.child_id')
    .select(['threads.id', 'threads.agent', 'threads.user_id', 'threads.root_id'])
    .where('children.parent_id', '=', parentId)
    .where('children.started', '=', 0)
    .where('children.terminated_at', 'is', null);
}

/** Children whose workflows have not been started, oldest first. */
export async function listUnstarted(
  { db }: CommandContext,
  parentId: string,
  limit: number,
): Promise<readonly ChildStart[]> {
  const rows = await unstarted(db, parentId)
    .orderBy('children.created_at')
    .orderBy('children.child_id')
    .limit(limit)
    .execute();
  return rows.map(toStart);
}

export async function hasUnstarted({ trx, threadId, row }: ThreadTransaction): Promise<boolean> {
  if (row.child_count === 0) return false;
  return (await unstarted(trx, threadId).limit(1).executeTakeFirst()) !== undefined;
}

type Relative = Pick<Selectable<Tables['threads']>, 'id' | 'parent_id'>;

/** Descendants that are not terminated, parents before their children. */
export async function listDescendants(
  context: CommandContext,
  threadId: string,
): Promise<readonly { readonly threadId: string; readonly agent: string }[]> {
  return inSnapshot(context, async (trx) => {
    const family = await selectFamily(trx, threadId)
      .select(['id', 'parent_id', 'agent', 'terminated_at'])
      .orderBy('created_at')
      .orderBy('id')
      .execute();
    const { below } = descend(family, threadId);
    // A thread that has ended may have living descendants.
    return below
      .filter(({ thread }) => thread.terminated_at === null)
      .map(({ thread }) => ({ threadId: thread.id, agent: thread.agent }));
  });
}

/**
 * Other threads of the family that are at rest with queued items and may not have been notified of them. Stopped
 * threads are left out.
 */
export async function listForgotten({ db }: CommandContext, threadId: string): Promise<readonly string[]> {
  const rows = await selectFamily(db, threadId)
    .leftJoin('children', 'children.child_id', 'threads.id')
    .select('threads.id')
    .where('threads.id', '!=', threadId)
    .where('threads.terminated_at', 'is', null)
    .where('threads.status', 'in', ['idle', 'failed'])
    // A child that is not started yet finds its queued items when it starts.
    .where((eb) => eb.or([eb('children.started', 'is', null), eb('children.started', '=', 1)]))
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('items')
          .select('items.id')
          .whereRef('items.thread_id', '=', 'threads.id')
          .where('items.state', '=', 'queued'),
      ),
    )
    .orderBy('threads.id')
    .execute();
  return rows.map(({ id }) => id);
}

/** A thread and all its descendants, each after its parent. */
export async function readFamily(
  context: CommandContext,
  threadId: string,
): Promise<readonly FamilyMember[]> {
  return inSnapshot(context, async (trx) => {
    const family = await selectFamily(trx, threadId)
      .selectAll()
      .orderBy('created_at')
      .orderBy('id')
      .execute();
    const { self, below } = descend(family, threadId);
    if (!self) return [];
    const registry = await readRegistry(trx, self.root_id);
    return [
      { thread: toThreadRecord(self), child: null, depth: 0 },
      ...below.map(({ thread, depth }) => ({
        thread: toThreadRecord(thread),
        child: registry.get(thread.id) ?? null,
        depth,
      })),
    ];
  });
}

async function readRegistry(
  trx: Transaction<Tables>,
  rootId: string,
): Promise<ReadonlyMap<string, ChildRecord>> {
  const rows = await trx
    .selectFrom('children')
    .innerJoin('threads', 'threads.id', 'children.child_id')
    .selectAll('children')
    .where('threads.root_id', '=', rootId)
    .execute();
  return new Map(rows.map((row) => [row.child_id, toChildRecord(row)]));
}

/** Each thread after its parent, siblings in the given order. */
function descend<T extends Relative>(family: readonly T[], threadId: string) {
  const children = groupBy(family, ({ parent_id: id }) => id);
  const below: { readonly thread: T; readonly depth: number }[] = [];
  // A start input that was written by hand may claim a parent that is no ancestor.
  const seen = new Set([threadId]);
  const visit = (id: string, depth: number): void => {
    for (const thread of children.get(id) ?? []) {
      if (seen.has(thread.id)) continue;
      seen.add(thread.id);
      below.push({ thread, depth });
      visit(thread.id, depth + 1);
    }
  };
  visit(threadId, 1);
  return { self: family.find(({ id }) => id === threadId), below };
}

/** Null if the call has created no child and sent none a message. */
export async function readChildCall(
  context: CommandContext,
  parentId: string,
  call: CallKey,
): Promise<ChildCall | null> {
  return inSnapshot(context, async (trx) => {
    const child = await findByCall(trx, parentId, call);
    if (!child) return null;
    return {
      child: toChildRecord(child),
      start: await readStart(trx, child.child_id),
      started: child.started === 1,
      waits: child.wait_step === call.step && child.wait_idx === call.index,
      report: await findAnswer(trx, child.child_id, call),
    };
  });
}

async function findByCall(
  trx: Transaction<Tables>,
  parentId: string,
  { step, index }: CallKey,
): Promise<ChildRow | undefined> {
  return trx
    .selectFrom('children')
    .selectAll()
    .where('parent_id', '=', parentId)
    .where((eb) =>
      eb.or([eb.and({ made_step: step, made_idx: index }), eb.and({ told_step: step, told_idx: index })]),
    )
    .executeTakeFirst();
}

async function findAnswer(
  trx: Transaction<Tables>,
  childId: string,
  { step, index }: CallKey,
): Promise<ChildCall['report']> {
  const report = await findRow(
    trx,
    'child_reports',
    { child_id: childId, call_step: step, call_idx: index },
    ['kind', 'content', 'delivered'],
  );
  if (!report) return null;
  const { kind, content, delivered } = report;
  return { kind, content, attachments: JSON.parse(delivered ?? '[]') };
}

const MAX_SUBAGENTS = 50;

export async function readTeamStatus(
  context: CommandContext,
  parentId: string,
  call: CallKey,
): Promise<TeamStatus> {
  return inSnapshot(context, async (trx) => {
    const thread = await findRow(trx, 'threads', { id: parentId });
    if (!thread) throw unknownThread(context.storeId, parentId);
    const { limits } = readTeam(thread);
    return {
      limits: thread.parent_id === null ? toStatusGuard(limits) : null,
      earlier: await readEarlier(context, trx, parentId, call),
      subagents: thread.child_count === 0 ? [] : await readSubagents(trx, parentId),
    };
  });
}

/** Counts the answered queries of the same execution. */
async function readEarlier(
  context: CommandContext,
  trx: Transaction<Tables>,
  threadId: string,
  { step, index }: CallKey,
): Promise<TeamStatus['earlier']> {
  const { count, last } = await selectStepCalls(trx, threadId)
    .select((eb) => [eb.fn.countAll<number>().as('count'), eb.fn.max('tool_calls.ended_at').as('last')])
    .where('tool_calls.name', '=', STATUS_QUERY)
    .where('tool_calls.status', '=', 'success')
    .where((eb) => eb.not(eb.and([eb('tool_calls.step', '=', step), eb('tool_calls.idx', '=', index)])))
    .where('steps.execution_id', '=', (eb) =>
      eb
        .selectFrom('steps as asking')
        .select('asking.execution_id')
        .where('asking.thread_id', '=', threadId)
        .where('asking.step', '=', step),
    )
    .executeTakeFirstOrThrow();
  return { count, sinceMs: last == null ? null : Math.max(0, (context.now() - last) / 1000) };
}

/** The newest subagents, at most MAX_SUBAGENTS, oldest first. */
async function readSubagents(trx: Transaction<Tables>, parentId: string): Promise<SubagentState[]> {
  const rows = await trx
    .selectFrom('children')
    .innerJoin('threads', 'threads.id', 'children.child_id')
    .selectAll('children')
    .select('threads.status as thread_status')
    .where('children.parent_id', '=', parentId)
    .orderBy('children.created_at', 'desc')
    .orderBy('children.child_id')
    .limit(MAX_SUBAGENTS)
    .execute();
  const ids = rows.map(({ child_id: id }) => id);
  const reports = await trx
    .selectFrom('child_reports')
    .select(['child_id', 'kind'])
    .where('child_id', 'in', ids)
    .orderBy('created_at')
    .execute();
  const paused = await selectRows(trx, 'waits', { kind: 'paused', state: 'open' })
    .select('thread_id')
    .where('thread_id', 'in', ids)
    .execute();
  const newest = new Map(reports.map(({ child_id: id, kind }) => [id, kind]));
  const isPaused = new Set(paused.map(({ thread_id: id }) => id));
  return rows.reverse().map((row) => {
    const report = newest.get(row.child_id);
    const rests = report === 'result' ? 'completed' : (report ?? 'idle');
    const works = isPaused.has(row.child_id)
      ? 'paused'
      : row.thread_status === 'waiting'
        ? 'waiting'
        : 'running';
    const status =
      isAtWork(row, { row: { status: row.thread_status } }) && row.terminated_at === null ? works : rests;
    return {
      agent_id: row.child_id,
      role: row.agent,
      name: row.name ?? undefined,
      status: status === 'failure' ? 'failed' : status,
      ...toText(row),
    };
  });
}

const toText = ({ status }: Pick<ChildRow, 'status'>) => (isOwnStatus(status) ? { text: status } : {});
