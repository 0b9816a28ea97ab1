/**
 * Waits of descendants that block a thread: it is `waiting` too, and its log has their events, so that its readers
 * learn of them.
 * S6. What a thread shows is compared, under its own lock, with what blocks the children whose reports its calls wait
 *     for: their own open waits, and those that they show. So neither order nor repetition matters.
 * - Each ancestor is updated in a separate transaction, from below (family/family-record.ts, F3). If a worker is lost before
 *   that, a repeated command of the child, or the next check for its report, makes up for it.
 * S7. A thread that shows something new is marked in the same transaction, until its own activity reads what it shows
 *     (`readShown`) or it rests: if its workflow was not notified, a worker's regular check does so (list-waits.ts).
 */
import { type CommandContext, inThread } from '../transaction/context.ts';
import { selectRows } from '../transaction/rows.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { showOver } from '../transaction/waiting-for.ts';
import type { ShownWait } from './wait-record.ts';
import { namesOf, resumeUnlessBlocked, showWaiting, type WaitRow } from './wait-row.ts';

/**
 * Brings up to date which waits of this thread are shown by the ancestors that wait for it. Returns those that it
 * blocks or has blocked, nearest first. Idempotent, whatever happens in between.
 */
export async function showAbove(context: CommandContext, threadId: string): Promise<readonly string[]> {
  const threadIds: string[] = [];
  for (let below: string | null = threadId; below !== null; ) {
    const parentId = await findAbove(context, below);
    if (parentId !== null) {
      await inThread(context, parentId, async (parent) => {
        if (parent.row.terminated_at === null) await showBelow(parent);
      });
      threadIds.push(parentId);
    }
    below = parentId;
  }
  return threadIds;
}

/** The parent, if one of its calls waits for the child, or if it shows anything. */
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

/**
 * The waits of descendants that block the thread now, oldest first; its status becomes `waiting` if there are any,
 * even if an earlier run has shown the same. For its own workflow: they count as read until the next change.
 */
export async function readShown(context: CommandContext, threadId: string): Promise<readonly ShownWait[]> {
  const shown = await inThread(context, threadId, async (thread) =>
    thread.row.terminated_at === null ? showBelow(thread, { reads: true }) : [],
  );
  await showAbove(context, threadId);
  return shown.map(({ id, thread_id: origin, kind, name }) => ({ id, threadId: origin, kind, name }));
}

/** S6. `rests`: the thread comes to rest, and the caller sets its status. `reads`: its workflow receives the result. */
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
  // S7: until its own activity reads it.
  if (reads || rests) clearUnread(thread);
  // S7: the time of the first change that was not read.
  else if (begun.length + over.length > 0 && thread.row.unseen_since === null)
    thread.set({ unseen_since: thread.now });
  const [oldest] = wanted;
  if (oldest) showWaiting(thread, oldest);
  else if (over.length > 0 && !rests) await resumeUnlessBlocked(thread);
  return wanted;
}

/** A thread at rest waits for no child: its workflow has nothing to read. */
export function clearUnread(thread: ThreadTransaction): void {
  if (thread.row.unseen_since !== null) thread.set({ unseen_since: null });
}

/** Open waits at or below the children whose reports calls of the thread wait for. */
async function readWanted({ trx, threadId, row }: ThreadTransaction): Promise<WaitRow[]> {
  if (row.child_count === 0) return [];
  const awaited = trx
    .selectFrom('children')
    .select('child_id')
    .where('parent_id', '=', threadId)
    .where('wait_step', 'is not', null);
  return selectRows(trx, 'waits', { root_id: row.root_id, state: 'open', blocks: 1 })
    .selectAll()
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
  await thread.insert('shown_waits', { wait_id: row.id });
  thread.set({ open_waits: thread.row.open_waits + 1 });
  thread.emit('wait.opened', { ...namesBelow(row), summary: row.summary, expiresAt: row.expires_at });
}

async function hide(thread: ThreadTransaction, row: WaitRow): Promise<void> {
  await thread.delete('shown_waits', { wait_id: row.id });
  thread.set({ open_waits: thread.row.open_waits - 1 });
  showOver(thread, row.id);
  thread.emit('wait.closed', { ...namesBelow(row), ...endOf(row) });
}

function namesBelow(row: WaitRow) {
  return { ...namesOf(row), threadId: row.thread_id };
}

/** Omits the value, which may be a secret. */
function endOf({ state, reason, answer }: Pick<WaitRow, 'state' | 'reason' | 'answer'>) {
  if (state === 'open') return { reason: 'released' };
  if (state !== 'answered' || answer === null) return { reason: reason ?? state };
  const { approved, by } = JSON.parse(answer) as { readonly approved?: boolean; readonly by?: string };
  return {
    reason: state,
    approved,
    by,
  };
}
