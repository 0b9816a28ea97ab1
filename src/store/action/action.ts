/**
 * The lifecycle of an action: requested if it waits for an approval, then denied, or started → completed | failed |
 * uncertain → reconciled. Its row and the event log record the same states.
 * - The action's id is the key: beginning it again, as another attempt of an idempotent tool does, changes nothing.
 * - An action that code performs itself belongs to its process while that renews its lease (code-action.ts). One that
 *   is begun again after its process was lost is no longer uncertain.
 */
import type { Insertable, Selectable } from 'kysely';
import { type ActionState, toFatalError } from '../../core/governance/agent-policy.ts';
import type { ToolStatus } from '../../core/message/message.ts';
import type { StoredError } from '../../core/thread/step.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import type { ActionDenial, ActionTable, DecidedAction } from './action-record.ts';

export type ActionRow = Selectable<ActionTable>;

/** The call of a step, and the execution that it belongs to. */
export interface ActionPlace {
  readonly step?: number | null;
  readonly index?: number | null;
  readonly executionId?: string | null;
  /** Lease of an action that code performs itself, in microseconds since 1970. */
  readonly leaseUntil?: number;
}

/** Stores and logs an action that begins or is denied, also one that has waited for an approval until now. */
export async function openAction(
  thread: ThreadTransaction,
  decided: DecidedAction,
  place: ActionPlace,
): Promise<void> {
  const { action, denied } = decided;
  const state = denied ? 'denied' : 'started';
  const known = await thread.find('actions', { id: action.id });
  // Another attempt of the code begins it again.
  if (known && !denied && (await beginAgain(thread, known, place))) return;
  if (known && known.state !== 'requested') return;
  const row = toRow(thread, decided, place, state);
  await upsertAction(thread, known, row);
  if (known?.fingerprint !== action.fingerprint) emitRequested(thread, decided, place);
  const named = { actionId: action.id, name: action.name };
  const at = { step: place.step };
  if (denied) {
    const { code, reason } = denied;
    thread.emit('action.denied', { ...named, code, reason }, at);
  } else thread.emit('action.started', named, at);
}

/** Renews an action that has begun and not ended. Returns false, without effect, for any other. */
async function beginAgain(
  thread: ThreadTransaction,
  { id, name, state }: ActionRow,
  { leaseUntil, step }: ActionPlace,
): Promise<boolean> {
  if (leaseUntil === undefined || (state !== 'started' && state !== 'uncertain')) return false;
  const again = { state: 'started', outcome: null, ended_at: null, lease_until: leaseUntil } as const;
  await thread.update('actions', { id }, again);
  if (state === 'uncertain') thread.emit('action.started', { actionId: id, name }, { step });
  return true;
}

/** Stores and logs an action that waits for an approval; once for each fingerprint. */
export async function requestAction(
  thread: ThreadTransaction,
  decided: DecidedAction,
  place: ActionPlace,
): Promise<void> {
  const known = await thread.find('actions', { id: decided.action.id });
  if (known && (known.state !== 'requested' || known.fingerprint === decided.action.fingerprint)) return;
  await upsertAction(thread, known, toRow(thread, decided, place, 'requested'));
  emitRequested(thread, decided, place);
}

function toRow(
  thread: ThreadTransaction,
  { action, decision, denied }: DecidedAction,
  place: ActionPlace,
  state: 'requested' | 'denied' | 'started',
): Insertable<ActionTable> {
  const { id, kind, name, callId, fingerprint, ...prepared } = action;
  return {
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
    state,
    outcome: denied ? JSON.stringify(denied) : null,
    requested_at: thread.now,
    started_at: state === 'started' ? thread.now : null,
    ended_at: state === 'denied' ? thread.now : null,
    lease_until: state === 'started' ? (place.leaseUntil ?? null) : null,
  };
}

async function upsertAction(
  thread: ThreadTransaction,
  known: ActionRow | undefined,
  { id, requested_at: at, ...row }: Insertable<ActionTable>,
): Promise<void> {
  if (!known) await thread.insert('actions', { id, requested_at: at, ...row });
  else await thread.update('actions', { id }, row);
}

function emitRequested(
  thread: ThreadTransaction,
  { action, decision, arguments: given, grant: grantId }: DecidedAction,
  { step }: ActionPlace,
): void {
  const { id: actionId, name, artifacts = [], ...shown } = action;
  const requested = {
    actionId,
    name,
    ...shown,
    ...(given === undefined ? {} : { arguments: given }),
    artifacts,
  };
  thread.emit('action.requested', requested, { step });
  thread.emit('action.policy', { actionId, name, ...decision, grantId }, { step });
}

/** The action of a call; undefined if no policy has judged the call. */
export async function findActionOf(
  thread: ThreadTransaction,
  { step, idx }: { readonly step: number; readonly idx: number },
): Promise<ActionRow | undefined> {
  return thread.find('actions', { id: `${thread.threadId}:${step}:${idx}` });
}

/** The error with which a call that has ended ends its execution; undefined if the execution goes on. */
export async function findFatalDenial(
  thread: ThreadTransaction,
  call: { readonly step: number; readonly idx: number },
): Promise<StoredError | undefined> {
  const row = await findActionOf(thread, call);
  if (row?.state !== 'denied') return undefined;
  const denied = JSON.parse(row.outcome ?? '{}') as Partial<ActionDenial>;
  const { code = 'ActionDenied', reason = '', fatal } = denied;
  return fatal && toFatalError(row.name, { code, reason });
}

interface ActionEnd {
  readonly status: ToolStatus;
  readonly error?: string;
  /** True if it is unknown whether the action has taken effect. */
  readonly uncertain?: boolean;
}

/** Closes an action that has begun, or waits to begin, and has not ended; any other stays as it is. */
export async function closeAction(
  thread: ThreadTransaction,
  row: ActionRow | undefined,
  { status, error, uncertain = false }: ActionEnd,
): Promise<void> {
  if (row?.state === 'requested') return denyWaiting(thread, row, error ?? '');
  if (row?.state !== 'started') return;
  const named = { actionId: row.id, name: row.name };
  const at = { step: row.step };
  const reason = error?.slice(0, 2000) ?? '';
  const state: ActionState = uncertain ? 'uncertain' : status === 'success' ? 'completed' : 'failed';
  await thread.update(
    'actions',
    { id: row.id },
    {
      state,
      outcome: state === 'completed' ? null : JSON.stringify({ error: reason }),
      ended_at: thread.now,
      lease_until: null,
    },
  );
  if (state === 'completed') thread.emit('action.completed', named, at);
  else if (state === 'failed') thread.emit('action.failed', { ...named, error: reason }, at);
  else thread.emit('action.uncertain', named, at);
}

/** Denies an action that waits for an approval which can no longer come. */
async function denyWaiting(thread: ThreadTransaction, row: ActionRow, reason: string): Promise<void> {
  const denied = { code: 'ApprovalRequired', reason } as const;
  await thread.update(
    'actions',
    { id: row.id },
    { state: 'denied', outcome: JSON.stringify(denied), ended_at: thread.now },
  );
  thread.emit('action.denied', { actionId: row.id, name: row.name, ...denied }, { step: row.step });
}

/** Closes the actions of a call that is cut off: the call's own, and those of tools that its body was invoking. */
export async function closeStarted(
  thread: ThreadTransaction,
  { step, idx }: { readonly step: number; readonly idx: number },
  end: ActionEnd,
): Promise<void> {
  const rows = await thread
    .select('actions', { step, state: ['requested', 'started'] })
    .selectAll()
    .orderBy('requested_at')
    .execute();
  const key = `${thread.threadId}:${step}:${idx}`;
  for (const row of rows)
    if (row.id === key || row.id.startsWith(`${key}:`)) await closeAction(thread, row, end);
}
