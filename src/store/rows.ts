/** Rows to records: the one place where flags become booleans and JSON text becomes values. */
import type { Selectable } from 'kysely';
import type { AttachmentRef, Message } from '../core/message.ts';
import type { StoredError, ThreadStatus } from '../core/step.ts';
import type { ThreadEvent, ThreadRecord } from './port.ts';
import type { EventTable, ItemTable, MessageTable, ThreadTable } from './schema.ts';

export function toThreadRecord(row: Selectable<ThreadTable>): ThreadRecord {
  return {
    id: row.id,
    agent: row.agent,
    userId: row.user_id,
    arguments: JSON.parse(row.arguments) as Record<string, unknown>,
    status: row.status as ThreadStatus,
    stopReason: row.stop_reason,
    lastError: row.last_error ? (JSON.parse(row.last_error) as StoredError) : null,
    parentId: row.parent_id,
    rootId: row.root_id,
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    terminatedAt: row.terminated_at === null ? null : Number(row.terminated_at),
    lastStep: row.last_step,
    lastSeq: Number(row.event_seq),
  };
}

export function toMessage(row: Selectable<MessageTable>): Message {
  return {
    id: row.id,
    role: row.role,
    content: row.content,
    name: row.name,
    tool_calls: row.tool_calls,
    tool_call_id: row.tool_call_id,
    created_at: Number(row.created_at),
    parent_id: row.parent_id,
    depth: row.depth,
    silent: row.silent === 1,
    metadata: JSON.parse(row.metadata) as Record<string, unknown>,
    attachments: row.attachments ? (JSON.parse(row.attachments) as AttachmentRef[]) : null,
    status: row.status,
    tool_status: row.tool_status,
  };
}

/** A queued item as the message it will become (seed 003: pending, `metadata.queued`). */
export function toPendingMessage(row: Selectable<ItemTable>): Message {
  const payload = JSON.parse(row.payload) as {
    role?: Message['role'];
    content?: string;
    name?: string;
    arguments?: unknown;
    silent?: boolean;
    metadata?: Record<string, unknown>;
  };
  const isTool = row.kind === 'tool';
  const call = {
    id: `queued_${row.id}`,
    type: 'function',
    function: { name: payload.name, arguments: JSON.stringify(payload.arguments ?? {}) },
  };
  return {
    id: row.id,
    role: isTool ? 'assistant' : (payload.role ?? 'user'),
    content: payload.content ?? null,
    name: null,
    tool_calls: isTool ? JSON.stringify([call]) : null,
    tool_call_id: null,
    created_at: Number(row.created_at),
    parent_id: null,
    depth: 0,
    silent: payload.silent ?? false,
    metadata: { ...payload.metadata, queued: true, ...(isTool ? { queuedTool: true } : {}) },
    attachments: null,
    status: 'pending',
    tool_status: null,
  };
}

export function toThreadEvent(row: Selectable<EventTable>): ThreadEvent {
  return {
    seq: Number(row.seq),
    at: Number(row.at),
    type: row.type,
    ...(row.step === null ? {} : { step: row.step }),
    ...(row.attempt === null ? {} : { attempt: row.attempt }),
    data: JSON.parse(row.data) as Record<string, unknown>,
  };
}
