/** Applies a redactor to JSON values at any depth, and to the visible fields of an attachment. */
import type { ToolResult } from '../../core/message/message.ts';
import { kindOf } from '../../core/value/tagged-json.ts';
import type { Redact } from './redaction.ts';

/**
 * Redacts a value: plain data, maps, sets and errors. What is anything else stays unchanged, and is refused or dropped where it is
 * written. Cycles and shared objects are preserved.
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
  if (!isPlain(value)) return redactInOther(value, redact, made);
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

/** Values that structured clone knows: a scratch may hold them. Bytes are opaque. */
function redactInOther(value: object, redact: Redact, made: Map<object, object>): object {
  const kind = kindOf(value);
  if (kind === 'Map') {
    const map = new Map<unknown, unknown>();
    made.set(value, map);
    for (const [key, member] of value as Map<unknown, unknown>)
      map.set(redactIn(key, redact, made), redactIn(member, redact, made));
    return map;
  }
  if (kind === 'Set') {
    const set = new Set<unknown>();
    made.set(value, set);
    for (const member of value as Set<unknown>) set.add(redactIn(member, redact, made));
    return set;
  }
  if (kind !== 'Error') return value;
  const error: Error = structuredClone(value as Error);
  made.set(value, error);
  for (const field of ['message', 'stack', 'cause'] as const)
    if (Object.hasOwn(error, field))
      Object.defineProperty(error, field, {
        value: redactIn(error[field], redact, made),
        configurable: true,
      });
  return error;
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
