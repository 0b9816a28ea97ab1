/** The initial row of a thread, whether its first run or its parent creates it. */
import type { Insertable, Transaction } from 'kysely';
import type { GivenContext } from '../../core/governance/run-context.ts';
import type { Tables } from '../schema/tables.ts';
import type { ThreadTable } from '../thread/thread-record.ts';
import { readNumber } from './change-order.ts';
import type { CommandContext } from './context.ts';
import { insertNew, insertRows } from './rows.ts';

interface NewThread {
  readonly threadId: string;
  readonly agent: string;
  readonly userId: string | null;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly parentId: string | null;
  readonly rootId: string;
  readonly name?: string | null;
  readonly context?: GivenContext;
  /** The organisation of its parent; a root has that of its context. */
  readonly organizationId?: string | null;
  readonly tags?: readonly string[];
}

/** No run has opened the thread yet: the first one that does becomes its run. */
export function toThreadRow(thread: NewThread, now: number) {
  return {
    id: thread.threadId,
    agent: thread.agent,
    user_id: thread.userId,
    organization_id: thread.organizationId ?? thread.context?.organizationId ?? null,
    arguments: JSON.stringify(thread.arguments),
    status: 'idle',
    stop_reason: null,
    last_error: null,
    run_id: '',
    activity: 0,
    activity_since: 0,
    parent_id: thread.parentId,
    root_id: thread.rootId,
    created_at: now,
    updated_at: now,
    terminated_at: null,
    event_seq: 0,
    clock: now,
    last_step: 0,
    counted_from: 1,
    counted_a: 0,
    counted_b: 0,
    asked_from: 1,
    asked_a: 0,
    asked_b: 0,
    open_steps: 0,
    message_count: 0,
    last_position: 0,
    turn_open: 0,
    answer_due: 0,
    next_agent: null,
    greeted: 0,
    name: thread.name ?? null,
    side: 'a',
    turns: 0,
    open_waits: 0,
    unseen_since: null,
    child_count: 0,
    activated: '[]',
    run_context: thread.context ? JSON.stringify(thread.context) : null,
    budget: null,
    loop_warnings: null,
    model_counts: null,
    requests: null,
    forked_from: null,
    rounds: null,
    team: null,
    compacted: 0,
    tags: thread.tags?.length ? JSON.stringify(thread.tags) : null,
    deleted_at: null,
    cost_pico: 0n,
    input_tokens: 0,
    output_tokens: 0,
    listed_cost: 0n,
    listed_tokens: 0,
    waiting_since: null,
    waiting_for: null,
    first_words: null,
    last_words: null,
    output: null,
    changed: 0,
    moved: 0,
  } as const satisfies Insertable<ThreadTable>;
}

interface FirstRun {
  readonly runId: string;
  /** The first event of its log. */
  readonly type: 'thread.created' | 'task.created';
  readonly data: object;
}

/** Inserts the row of a root and what its first run leaves; false if the thread exists. */
export async function insertRoot(
  context: Pick<CommandContext, 'order'>,
  trx: Transaction<Tables>,
  row: Insertable<ThreadTable>,
  { runId, type, data }: FirstRun,
): Promise<boolean> {
  const { id: thread_id, created_at: now } = row;
  const number = await readNumber(context, trx);
  const made = { ...row, run_id: runId, event_seq: 1, changed: number, moved: number };
  if (!(await insertNew(trx, 'threads', made))) return false;
  await insertRows(trx, 'thread_runs', [{ thread_id, run_id: runId, registered_at: now }]);
  await insertRows(trx, 'events', [{ thread_id, seq: 1, at: now, type, data: JSON.stringify(data) }]);
  return true;
}
