/**
 * Waits of descendants that block a thread: it is `waiting` as well, and its log tells of them, so that whoever listens there learns of them.
 * S1. What a thread shows is compared with what its children wait for, those whose report a call of it waits for, under its own lock: the
 *     open waits that block a child, and what that child itself shows. So any order and any repetition comes to the same.
 * S2. Each ancestor is a transaction of its own, from below (port/family.ts, F3). What a lost worker has left out is made up for by whoever
 *     gives the child's command again, or looks for its report.
 * S3. Of a thread that shows something else than before it is noted in the same transaction, until its own activity reads what it shows
 *     (`readShown`) or it rests: its workflow may not have been told, and a worker's regular look tells it again (unseen-wait.ts).
 */
import type { ShownWait } from '../../port/wait.ts';
import { type CommandContext, inThread } from '../base/context.ts';
import type { ThreadTransaction } from '../base/thread-transaction.ts';
import { endedWaiting, namesOf, showWaiting, type WaitRow } from './wait-row.ts';

/** Brings up to date what the ancestors of a thread show. Answers those that it holds up or has held up, nearest first. */
export async function showAbove(context: CommandContext, threadId: string): Promise<readonly string[]> {
  const told: string[] = [];
  for (let below: string | null = threadId; below !== null; ) {
    const parentId = await findAbove(context, below);
    if (parentId !== null) {
      await inThread(context, parentId, async (parent) => {
        if (parent.row.terminated_at === null) await showBelow(parent);
      });
      told.push(parentId);
    }
    below = parentId;
  }
  return told;
}

/** The parent, where a call of it waits for the child, or it shows anything. */
async function findAbove({ db }: CommandContext, childId: string): Promise<string | null> {
  const child = await db
    .selectFrom('children')
    .innerJoin('threads', 'threads.id', 'children.parent_id')
    .select(['children.parent_id', 'children.wait_step', 'threads.open_waits'])
    .where('children.child_id', '=', childId)
    .executeTakeFirst();
  if (!child) return null;
  return child.wait_step === null && child.open_waits === 0 ? null : child.parent_id;
}

/** What holds the thread up from below now. It is shown as waiting, whatever a run before this one has shown. */
export async function readShown(context: CommandContext, threadId: string): Promise<readonly ShownWait[]> {
  const shown = await inThread(context, threadId, async (thread) =>
    thread.row.terminated_at === null ? showBelow(thread, { reads: true }) : [],
  );
  await showAbove(context, threadId);
  return shown.map(({ id, thread_id: origin, kind, name }) => ({ id, threadId: origin, kind, name }));
}

/** S1. `rests`: the thread comes to rest, and its status is set by whoever settles it. `reads`: its workflow is told what is answered. */
export async function showBelow(
  thread: ThreadTransaction,
  { rests = false, reads = false } = {},
): Promise<readonly WaitRow[]> {
  const wanted = await readWanted(thread);
  const shown = await readRows(thread);
  const wantedIds = new Set(wanted.map(({ id }) => id));
  const shownIds = new Set(shown.map(({ id }) => id));
  const begun = wanted.filter(({ id }) => !shownIds.has(id));
  for (const row of begun) await show(thread, row);
  const over = shown.filter(({ id }) => !wantedIds.has(id));
  for (const row of over) await hide(thread, row);
  // S3: until its own activity reads it.
  if (reads || rests) forgetUnseen(thread);
  else if (begun.length + over.length > 0) noteUnseen(thread);
  if (wanted.length > 0) showWaiting(thread);
  else if (over.length > 0 && !rests) await endedWaiting(thread);
  return wanted;
}

/** S3: since the first change that it has not read. */
function noteUnseen(thread: ThreadTransaction): void {
  if (thread.row.unseen_since === null) thread.set({ unseen_since: thread.now });
}

/** A thread at rest waits for no child: nothing of its workflow's view is due. */
export function forgetUnseen(thread: ThreadTransaction): void {
  if (thread.row.unseen_since !== null) thread.set({ unseen_since: null });
}

/** Of children whose reports calls of the thread wait for. */
async function readWanted({ trx, threadId, row }: ThreadTransaction): Promise<WaitRow[]> {
  if (row.child_count === 0) return [];
  const awaited = trx
    .selectFrom('children')
    .select('child_id')
    .where('parent_id', '=', threadId)
    .where('wait_step', 'is not', null);
  return trx
    .selectFrom('waits')
    .selectAll()
    .where('root_id', '=', row.root_id)
    .where('state', '=', 'open')
    .where('blocks', '=', 1)
    .where((eb) =>
      eb.or([
        eb('thread_id', 'in', awaited),
        eb('id', 'in', trx.selectFrom('shown_waits').select('wait_id').where('thread_id', 'in', awaited)),
      ]),
    )
    .orderBy('opened_at')
    .orderBy('id')
    .execute();
}

async function readRows({ trx, threadId, row }: ThreadTransaction): Promise<WaitRow[]> {
  if (row.open_waits === 0) return [];
  return trx
    .selectFrom('shown_waits')
    .innerJoin('waits', 'waits.id', 'shown_waits.wait_id')
    .selectAll('waits')
    .where('shown_waits.thread_id', '=', threadId)
    .orderBy('waits.opened_at')
    .execute();
}

async function show(thread: ThreadTransaction, row: WaitRow): Promise<void> {
  await thread.trx
    .insertInto('shown_waits')
    .values({ thread_id: thread.threadId, wait_id: row.id })
    .execute();
  thread.set({ open_waits: thread.row.open_waits + 1 });
  const expiresAt = row.expires_at === null ? null : Number(row.expires_at);
  thread.emit('wait.opened', { ...namesBelow(row), summary: row.summary, expiresAt });
}

async function hide(thread: ThreadTransaction, row: WaitRow): Promise<void> {
  await thread.trx
    .deleteFrom('shown_waits')
    .where('thread_id', '=', thread.threadId)
    .where('wait_id', '=', row.id)
    .execute();
  thread.set({ open_waits: thread.row.open_waits - 1 });
  thread.emit('wait.closed', { ...namesBelow(row), ...endOf(row) });
}

function namesBelow(row: WaitRow) {
  return { ...namesOf(row), threadId: row.thread_id };
}

/** A value may be a secret: nothing of it is told. */
function endOf({ state, reason, answer }: Pick<WaitRow, 'state' | 'reason' | 'answer'>) {
  if (state === 'open') return { reason: 'released' };
  if (state !== 'answered' || answer === null) return { reason: reason ?? state };
  const { approved, by } = JSON.parse(answer) as { readonly approved?: boolean; readonly by?: string };
  return {
    reason: state,
    ...(approved === undefined ? {} : { approved }),
    ...(by === undefined ? {} : { by }),
  };
}
