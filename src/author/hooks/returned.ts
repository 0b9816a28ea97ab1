/** Validates what hooks return: returns the value that is used, or throws an error that states what was expected. */

import type { MessageAttachment } from '../../core/author/thread-message.ts';
import type {
  AttachmentRef,
  ChangedMessage,
  Message,
  MessageRole,
  ToolResult,
} from '../../core/message/message.ts';
import { findMisfit, MESSAGE_FIELDS } from '../../core/message/message-fields.ts';
import { toJsonText } from '../../core/value/json-value.ts';
import { LIMITS, utf8Length } from '../../core/value/limit.ts';
import { definedFields, isRecord } from '../../core/value/record.ts';
import { toToolResult } from '../tool/tool-result.ts';

export function toReturnTypeError(what: string, returned: unknown): TypeError {
  return new TypeError(`It must return ${what}, or nothing; it returned ${describeValue(returned)}.`);
}

function describeValue(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

export function readText(returned: unknown): string {
  if (typeof returned === 'string') return returned;
  throw toReturnTypeError('a string', returned);
}

export function readList<T>(what: string, returned: unknown): readonly T[] {
  if (Array.isArray(returned)) return returned as readonly T[];
  throw toReturnTypeError(`a list of ${what}`, returned);
}

const STATUS: readonly unknown[] = ['success', 'error'];

export function readResult(returned: unknown): ToolResult {
  if (isRecord(returned) && STATUS.includes(returned.status)) return toToolResult(returned).result;
  throw toReturnTypeError("a ToolResult, whose status is 'success' or 'error'", returned);
}

/** The fields of a message that a hook may change, as it returned them. */
export interface MessageChanges extends Omit<ChangedMessage, 'attachments'>, Partial<Pick<Message, 'role'>> {
  readonly attachments?: readonly MessageAttachment[] | null;
}

/** `roles`: the roles that the message may get; if empty, a returned role is ignored. */
export function readChanges(returned: unknown, roles: readonly MessageRole[] = []): MessageChanges {
  if (!isRecord(returned)) throw toReturnTypeError('a message, or some of its fields', returned);
  const { role, content, metadata, attachments } = returned;
  const misfit = findMisfit({ ...returned, content: content ?? undefined });
  if (misfit) {
    const words = misfit.name === 'content' ? 'a string or null' : misfit.words;
    throw toReturnTypeError(`a message whose ${misfit.name} is ${words}`, returned[misfit.name]);
  }
  if (typeof content === 'string' && utf8Length(content) > LIMITS.contentBytes)
    throw new TypeError(`The content that it returned exceeds ${LIMITS.contentBytes} bytes.`);
  if (role !== undefined && roles.length > 0 && !roles.includes(role as MessageRole))
    throw new TypeError(`The role of this message may be ${roles.join(', ')}, not ${JSON.stringify(role)}.`);
  if (attachments !== undefined && attachments !== null && !Array.isArray(attachments))
    throw toReturnTypeError('a message whose attachments are a list', attachments);
  return {
    ...(role !== undefined && roles.length > 0 ? { role: role as MessageRole } : {}),
    ...definedFields(Object.fromEntries(MESSAGE_FIELDS.map((name) => [name, returned[name]]))),
    ...(metadata === undefined ? {} : { metadata: readMetadata(metadata) }),
    ...(attachments === undefined ? {} : { attachments: attachments as readonly AttachmentRef[] | null }),
  };
}

function readMetadata(metadata: unknown): Record<string, unknown> {
  const text = toJsonText(metadata, { name: 'metadata', maxBytes: LIMITS.contentBytes });
  return JSON.parse(text) as Record<string, unknown>;
}

const ROLES: readonly unknown[] = ['system', 'user', 'assistant', 'tool'];

/** Validates a message of the context: one of the thread, or one that the hook has added. */
export function readContextMessage(value: unknown, index: number): Partial<Message> & Pick<Message, 'id'> {
  const wrong = (what: string) => new TypeError(`Message ${index} that it returned ${what}.`);
  if (!isRecord(value)) throw wrong('is not an object');
  const { id, role, content, tool_calls: calls, metadata } = value;
  if (typeof id !== 'string' || id.length === 0) throw wrong('has no "id"');
  if (!ROLES.includes(role)) throw wrong(`has the role ${JSON.stringify(role) ?? 'undefined'}`);
  if (content !== undefined && content !== null && typeof content !== 'string')
    throw wrong('has content that is neither a string nor null');
  if (calls !== undefined && calls !== null && typeof calls !== 'string')
    throw wrong('has tool_calls that are not JSON text');
  if (metadata !== undefined && !isRecord(metadata)) throw wrong('has metadata that is not an object');
  return value as Partial<Message> & Pick<Message, 'id'>;
}
