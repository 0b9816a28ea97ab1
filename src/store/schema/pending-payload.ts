/** Converts the payload of a queued row to the message that it will become, and applies the changes of hooks to it. */
import type { Selectable } from 'kysely';
import type { Side } from '../../core/author/thread-execution.ts';
import type { MadeCalls } from '../../core/thread/made-calls.ts';
import { roleOf } from '../../core/thread/session.ts';
import type { PendingMessage, PreparedRow } from '../step/step-place-record.ts';
import type { ItemTable } from './tables.ts';

type Row = Pick<Selectable<ItemTable>, 'id' | 'kind' | 'payload' | 'created_at'>;

interface Payload extends MadeCalls {
  readonly role?: PendingMessage['role'];
  readonly content?: string;
  readonly silent?: boolean;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly attachments?: PendingMessage['attachments'];
  readonly name?: string;
  readonly arguments?: unknown;
}

/** Metadata that marks the message of a queued tool. */
export const QUEUED_TOOL = { queuedTool: true } as const;

/** The call of a queued tool, which becomes a message of the acting side with this one call. */
export function toQueuedCall(id: string, { name, arguments: args }: Pick<Payload, 'name' | 'arguments'>) {
  return {
    id: `queued_${id}`,
    type: 'function',
    function: { name: name ?? '', arguments: JSON.stringify(args ?? {}) },
  } as const;
}

/** The message that will be stored if this side acts, unless hooks change it. */
export function toPendingDraft(
  { id, kind, payload, created_at: createdAt }: Row,
  side: Side = 'a',
): PendingMessage {
  const queued = JSON.parse(payload) as Payload;
  const isTool = kind === 'tool';
  const calls = isTool ? [toQueuedCall(id, queued)] : (queued.toolCalls ?? null);
  return {
    id,
    role: isTool ? roleOf(side) : (queued.role ?? 'user'),
    content: queued.content ?? null,
    name: queued.toolName ?? null,
    tool_calls: calls && JSON.stringify(calls),
    tool_call_id: queued.toolCallId ?? null,
    created_at: createdAt,
    parent_id: null,
    depth: 0,
    silent: queued.silent ?? false,
    metadata: { ...queued.metadata, ...(isTool ? QUEUED_TOOL : {}) },
    attachments: queued.attachments ?? null,
    status: 'completed',
    tool_status: queued.toolStatus ?? null,
  };
}

/**
 * Applies the changes of hooks to a payload. A tool keeps its name and arguments, which are not part of a prepared row.
 */
export function applyPrepared(payload: string, prepared: PreparedRow | undefined): string {
  if (!prepared) return payload;
  const { id: _, ...fields } = prepared;
  const attachments = 'attachments' in fields ? { attachments: fields.attachments ?? undefined } : {};
  return JSON.stringify({ ...(JSON.parse(payload) as Payload), ...fields, ...attachments });
}
