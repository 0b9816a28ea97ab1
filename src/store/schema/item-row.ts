/** An item in line as its row has it, and the message that it will become. Of a row, id and kind are columns, the rest is JSON. */
import { hash } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { Side } from '../../core/author/thread-execution.ts';
import { UNKNOWN_TYPE } from '../../core/file/mime-type.ts';
import { type AttachmentRef, fillMessage, type Message } from '../../core/message/message.ts';
import { type MessageFields, pickFields } from '../../core/message/message-fields.ts';
import type { MessageItem, QueueItem, ToolItem } from '../../core/thread/item.ts';
import { roleOf } from '../../core/thread/session.ts';
import type { SupersededPart } from '../../core/thread/superseded.ts';
import { canonicalJson } from '../../core/value/canonical-json.ts';
import type { CausedItem } from '../budget/account.ts';
import type { ItemTable } from './tables.ts';

/** A call, with the fields of its message if hooks have set any. */
export type ToolInLine = ToolItem & MessageFields & Pick<MessageItem, 'attachments'>;
export type ItemInLine = (MessageItem | ToolInLine) & CausedItem & { readonly superseded?: NotedPart };

/** What the part that was superseded at this message has done. `acknowledged`: with unknown outcomes, which its model must be told. */
export interface NotedPart extends Omit<SupersededPart, 'acknowledged'> {
  readonly acknowledged: boolean;
}

export function toItemRow(threadId: string, item: QueueItem, now: number) {
  const { id, kind, ...payload } = item;
  return {
    thread_id: threadId,
    id,
    kind: kind === 'tool' ? ('tool' as const) : ('message' as const),
    payload: JSON.stringify(payload),
    created_at: now,
    own: 0,
    digest: digestOf(item),
  };
}

/** Covers what is said, shown or called. A repeated item may differ in its metadata, such as the time of the attempt. */
export function digestOf(item: QueueItem): string | null {
  if (item.kind === 'stored') return null;
  const content =
    item.kind === 'tool'
      ? [item.name, item.arguments]
      : [item.role, item.content, item.attachments ?? [], ...(item.output ? [item.output] : [])];
  return hash('sha256', canonicalJson(content));
}

export function readItem({
  id,
  kind,
  payload,
}: Pick<Selectable<ItemTable>, 'id' | 'kind' | 'payload'>): ItemInLine {
  return { ...JSON.parse(payload), id, kind };
}

/** Metadata that marks the message of a queued tool. */
export const QUEUED_TOOL = { queuedTool: true } as const;

export function toQueuedCall({ id, name, arguments: args }: Pick<ToolItem, 'id' | 'name' | 'arguments'>) {
  const target = { name, arguments: JSON.stringify(args ?? {}) };
  return { id: `queued_${id}`, type: 'function', function: target } as const;
}

/** The message that is stored if this side acts, without its files. A queued tool is a call of that side. */
export function toItemMessage(item: ItemInLine, side: Side): Message {
  const { id } = item;
  const fields = pickFields<MessageFields>(item);
  if (item.kind === 'tool')
    return fillMessage({
      id,
      ...fields,
      role: roleOf(side),
      tool_calls: JSON.stringify([toQueuedCall(item)]),
      metadata: { ...fields.metadata, ...QUEUED_TOOL },
    });
  const { role, toolCalls, toolName: name, toolCallId: tool_call_id, toolStatus: tool_status } = item;
  const tool_calls = toolCalls?.length ? JSON.stringify(toolCalls) : null;
  return fillMessage({ id, ...fields, role, name, tool_calls, tool_call_id, tool_status });
}

/** As readers see it (pending, `metadata.queued`). A file that its sender names is looked up when the item is taken. */
export function toPendingMessage(row: Selectable<ItemTable>): Message {
  const item = readItem(row);
  const message = toItemMessage(item, 'a');
  return {
    ...message,
    created_at: row.created_at,
    metadata: { ...message.metadata, queued: true },
    attachments: item.attachments?.length ? item.attachments.map(toPendingAttachment) : null,
    status: 'pending',
  };
}

function toPendingAttachment(given: string | AttachmentRef): AttachmentRef {
  if (typeof given !== 'string') return given;
  const name = given.slice(given.lastIndexOf('/') + 1);
  return { id: given, type: 'file', path: given, name, mimeType: UNKNOWN_TYPE, size: 0 };
}
