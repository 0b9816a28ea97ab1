/** Applies a redactor to JSON values at any depth, and to the visible fields of an attachment. */
import type { ToolResult } from '../core/message/message.ts';
import type { Redact } from './redaction.ts';

/**
 * Redacts a value. What is not plain data stays unchanged, and is refused where it is written. Cycles and shared
 * objects are preserved.
 */
export function redactIn(value: unknown, redact: Redact, made = new Map<object, object>()): unknown {
  if (typeof value === 'string') return redact(value);
  if (typeof value !== 'object' || value === null) return value;
  const before = made.get(value);
  if (before) return before;
  if (Array.isArray(value)) {
    const list: unknown[] = [];
    made.set(value, list);
    for (const each of value) list.push(redactIn(each, redact, made));
    return list;
  }
  if (!isPlain(value)) return value;
  const record: Record<string, unknown> = {};
  made.set(value, record);
  for (const [key, member] of Object.entries(value)) {
    // Not an assignment: a key may be `__proto__`.
    const property = {
      value: redactIn(member, redact, made),
      enumerable: true,
      writable: true,
      configurable: true,
    };
    Object.defineProperty(record, redact(key), property);
  }
  return record;
}

/** Works across realms: an object of another realm has another Object.prototype. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

type Attachment = NonNullable<ToolResult['attachments']>[number];

/** Redacts name, description and path of a file. Its content stays as the author wrote it (docs/operations.md). */
export function redactAttachment(attachment: Attachment, redact: Redact): Attachment {
  if (typeof attachment === 'string') return redact(attachment);
  if (typeof attachment !== 'object' || attachment === null) return attachment;
  const { name, description } = attachment;
  const path = 'path' in attachment ? attachment.path : undefined;
  return {
    ...attachment,
    ...(typeof name === 'string' ? { name: redact(name) } : {}),
    ...(typeof description === 'string' ? { description: redact(description) } : {}),
    ...(typeof path === 'string' ? { path: redact(path) } : {}),
  };
}
