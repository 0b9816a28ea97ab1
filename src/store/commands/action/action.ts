/**
 * The life of an action: denied, or started → completed | failed | uncertain → reconciled. Its row and the log tell the same.
 * A1. Its id is the key: what begins it again, such as another attempt of an idempotent tool, changes nothing.
 */
import type { Insertable, Selectable } from 'kysely';
import type { ActionState } from '../../../core/governance/agent-policy.ts';
import type { ToolStatus } from '../../../core/message/message.ts';
import type { EndAction, RecordAction, ToldAction } from '../../port/action.ts';
import type { ActionTable } from '../../schema/action.ts';
import { type CommandContext, inThread, refuseTerminated } from '../base/context.ts';
import type { ThreadTransaction } from '../base/thread-transaction.ts';

export type ActionRow = Selectable<ActionTable>;

/** The call of a step, and the execution that it belongs to. */
export interface ActionPlace {
  readonly step?: number;
  readonly index?: number;
  readonly executionId?: string;
}

export async function recordAction(
  context: CommandContext,
  { threadId, told, step, executionId }: RecordAction,
): Promise<void> {
  await inThread(context, threadId, async (thread) => {
    refuseTerminated(thread);
    await openAction(thread, told, { step, executionId });
  });
}

/** Tells of an action that begins, or that is denied. */
export async function openAction(
  thread: ThreadTransaction,
  { action, decision, denied }: ToldAction,
  place: ActionPlace,
): Promise<void> {
  const { id, kind, name, callId, fingerprint, ...prepared } = action;
  const row: Insertable<ActionTable> = {
    id,
    thread_id: thread.threadId,
    step: place.step ?? null,
    idx: place.index ?? null,
    execution_id: place.executionId ?? null,
    kind,
    name,
    call_id: callId ?? null,
    fingerprint,
    prepared: JSON.stringify(prepared),
    decision: JSON.stringify(decision),
    state: denied ? 'denied' : 'started',
    outcome: denied ? JSON.stringify(denied) : null,
    requested_at: thread.now,
    started_at: denied ? null : thread.now,
    ended_at: denied ? thread.now : null,
  };
  const kept = await thread.trx
    .insertInto('actions')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .executeTakeFirst();
  // A1: begun before.
  if (!kept) return;
  const named = { actionId: id, name };
  const at = { step: place.step };
  const { artifacts = [], ...shown } = prepared;
  thread.emit(
    'action.requested',
    { ...named, kind, ...(callId === undefined ? {} : { callId }), fingerprint, ...shown, artifacts },
    at,
  );
  thread.emit('action.policy', { ...named, ...decision }, at);
  if (denied) thread.emit('action.denied', { ...named, ...denied }, at);
  else thread.emit('action.started', named, at);
}

/** The action of a call; undefined where none was judged. */
export async function findActionOf(
  { trx, threadId }: ThreadTransaction,
  { step, idx }: { readonly step: number; readonly idx: number },
): Promise<ActionRow | undefined> {
  return trx
    .selectFrom('actions')
    .selectAll()
    .where('id', '=', `${threadId}:${step}:${idx}`)
    .executeTakeFirst();
}

export interface ActionEnd {
  readonly status: ToolStatus;
  readonly error?: string;
  /** Whether it has taken effect is unknown. */
  readonly uncertain?: boolean;
}

/** Only one that has begun, and has not ended. */
export async function closeAction(
  thread: ThreadTransaction,
  row: ActionRow | undefined,
  { status, error, uncertain = false }: ActionEnd,
): Promise<void> {
  if (row?.state !== 'started') return;
  const named = { actionId: row.id, name: row.name };
  const at = { step: row.step };
  const reason = error?.slice(0, 2000) ?? '';
  const state: ActionState = uncertain ? 'uncertain' : status === 'success' ? 'completed' : 'failed';
  await thread.trx
    .updateTable('actions')
    .set({
      state,
      outcome: state === 'completed' ? null : JSON.stringify({ error: reason }),
      ended_at: thread.now,
    })
    .where('id', '=', row.id)
    .execute();
  if (state === 'completed') thread.emit('action.completed', named, at);
  else if (state === 'failed') thread.emit('action.failed', { ...named, error: reason }, at);
  else thread.emit('action.uncertain', named, at);
}

/** Of a call that is cut off: its own, and those of tools that its body was invoking. */
export async function closeStarted(
  thread: ThreadTransaction,
  { step, idx }: { readonly step: number; readonly idx: number },
  end: ActionEnd,
): Promise<void> {
  const rows = await thread.trx
    .selectFrom('actions')
    .selectAll()
    .where('thread_id', '=', thread.threadId)
    .where('state', '=', 'started')
    .where('step', '=', step)
    .orderBy('requested_at')
    .execute();
  const key = `${thread.threadId}:${step}:${idx}`;
  for (const row of rows)
    if (row.id === key || row.id.startsWith(`${key}:`)) await closeAction(thread, row, end);
}

export async function endAction(context: CommandContext, { id, threadId, ...end }: EndAction): Promise<void> {
  await inThread(context, threadId, async (thread) => {
    const row = await thread.trx.selectFrom('actions').selectAll().where('id', '=', id).executeTakeFirst();
    await closeAction(thread, row, end);
  });
}
