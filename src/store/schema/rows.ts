/** Converts rows to records: the one place where flags become booleans and JSON text becomes values. */
import type { Selectable } from 'kysely';
import type { ContextMessage } from '../../core/context/context.ts';
import { isEventKind, type ThreadEvent } from '../../core/event/thread-event.ts';
import type { ChangedMessage, Message } from '../../core/message/message.ts';
import { toUsd } from '../../core/value/money.ts';
import type { StoredOrigin } from '../fork/fork-record.ts';
import type { ThreadRecord, ThreadTable } from '../thread/thread-record.ts';
import type { EventTable, MessageTable } from './tables.ts';

export function toThreadRecord(row: Selectable<ThreadTable>): ThreadRecord {
  return {
    id: row.id,
    agent: row.agent,
    name: row.name,
    userId: row.user_id,
    organizationId: row.organization_id ?? undefined,
    arguments: JSON.parse(row.arguments),
    tags: row.tags === null ? [] : JSON.parse(row.tags),
    status: row.status,
    stopReason: row.stop_reason,
    lastError: row.last_error ? JSON.parse(row.last_error) : null,
    session: { side: row.side, turns: row.turns },
    parentId: row.parent_id,
    rootId: row.root_id,
    forkedFrom: row.forked_from === null ? undefined : toOrigin(row.forked_from),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    terminatedAt: row.terminated_at,
    lastStep: row.last_step,
    childCount: row.child_count,
    messageCount: row.message_count,
    lastSeq: row.event_seq,
    costUsd: toUsd(row.cost_pico),
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    waitingFor:
      row.waiting_since === null || row.waiting_for === null
        ? null
        : { ...JSON.parse(row.waiting_for), since: row.waiting_since },
    failedCode: row.status === 'failed' && row.last_error ? JSON.parse(row.last_error).code : null,
    firstWords: row.first_words,
    lastWords: row.last_words,
    listed: { costUsd: toUsd(row.listed_cost), tokens: row.listed_tokens },
    budgeted: isLimited(row.budget) ? (true as const) : undefined,
    compacted: row.compacted === 1 ? (true as const) : undefined,
    deletedAt: row.deleted_at ?? undefined,
  };
}

function toOrigin(stored: string): NonNullable<ThreadRecord['forkedFrom']> {
  const { threadId, step } = JSON.parse(stored) as StoredOrigin;
  return { threadId, step };
}

/** The budget's accounts are a list; those that only have the ceiling of a family limit nothing that an author sets. */
function isLimited(budget: string | null): boolean {
  if (budget === null) return false;
  const { accounts } = JSON.parse(budget) as { readonly accounts: readonly { readonly family?: string }[] };
  return accounts.some(({ family }) => family !== 'only');
}

/** Field by field: a step may read thousands, and copying what is left of a row takes four times as long. */
export function toMessage(row: Selectable<MessageTable>): Message {
  return {
    id: row.id,
    role: row.role,
    content: row.content,
    name: row.name,
    tool_calls: row.tool_calls,
    tool_call_id: row.tool_call_id,
    created_at: row.created_at,
    parent_id: row.parent_id,
    depth: row.depth,
    silent: row.silent === 1,
    metadata: row.metadata === '{}' ? {} : JSON.parse(row.metadata),
    attachments: row.attachments ? JSON.parse(row.attachments) : null,
    status: row.status,
    tool_status: row.tool_status,
  };
}

export function toContextMessage(row: Selectable<MessageTable>): ContextMessage {
  const { execution_id: executionId, step, reasoning, prompt, parts } = row;
  return { ...toMessage(row), executionId, step, reasoning, prompt, parts };
}

/** The columns that a copy of a message has in common with it. One that is not here does not compile: no copy leaves it out. */
export const COPIED_COLUMNS = Object.keys({
  id: true,
  role: true,
  content: true,
  name: true,
  tool_calls: true,
  tool_call_id: true,
  created_at: true,
  parent_id: true,
  depth: true,
  silent: true,
  attachments: true,
  status: true,
  tool_status: true,
  execution_id: true,
  step: true,
  reasoning: true,
  prompt: true,
  parts: true,
} satisfies Record<CopiedColumn, true>) as CopiedColumn[];

/** Its thread is another one, or its metadata names where it is from. */
type CopiedColumn = Exclude<keyof MessageTable, 'thread_id' | 'metadata'>;

/** The columns of a message, or of some of its fields. */
export function toMessageColumns<Given extends ChangedMessage>({
  silent,
  metadata,
  attachments,
  ...others
}: Given) {
  return {
    ...others,
    silent: silent === undefined ? undefined : Number(silent),
    metadata: metadata && JSON.stringify(metadata),
    attachments: attachments?.length ? JSON.stringify(attachments) : attachments && null,
  };
}

/**
 * Converts a requested limit to a valid count, `usual` by default. Callers may pass any number, and engines treat odd
 * ones differently.
 */
export function toCount(asked: number | undefined, usual: number): number {
  if (asked === undefined || Number.isNaN(asked)) return usual;
  return Math.min(Math.max(0, Math.trunc(asked)), Number.MAX_SAFE_INTEGER);
}

/**
 * An event of the log. Rows outlive the version that wrote them, and workers of two versions may share a store: an
 * unknown kind is shown like the authors' own events.
 */
export function readEvent(row: Selectable<EventTable>): ThreadEvent {
  const given: unknown = JSON.parse(row.data);
  return {
    seq: row.seq,
    at: row.at,
    step: row.step ?? undefined,
    attempt: row.attempt ?? undefined,
    ...(isEventKind(row.type)
      ? { type: row.type, data: given }
      : { type: 'custom', data: { event: row.type, data: given } }),
  } as ThreadEvent;
}
