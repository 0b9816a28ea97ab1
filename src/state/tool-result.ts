/**
 * Converts whatever a tool returned to a ToolResult. Authors may write untyped code, so nothing that a tool returns may
 * crash the worker: what cannot be read throws here, where a throw counts as the tool's error, and the result is a copy
 * without getters or traps.
 */

import type { ToolResult } from '../core/message/message.ts';
import { RuntimeError } from '../core/value/error.ts';
import { LIMITS, utf8Length } from '../core/value/limit.ts';

/** Throws `LimitExceeded`, and whatever getters, proxies and `toJSON` throw. */
export function toToolResult(value: unknown): ToolResult {
  if (typeof value === 'string') return { status: 'success', result: withinLimit(value) };
  if (value === undefined || value === null) return { status: 'success' };
  if (typeof value !== 'object' || !('status' in value)) return { status: 'success', result: toText(value) };
  const {
    status,
    result,
    error,
    stack,
    attachments,
    error_code: code,
    error_data: data,
  } = value as Record<string, unknown>;
  return {
    status: status === 'error' ? 'error' : 'success',
    ...(result === undefined || result === null ? {} : { result: toText(result) }),
    ...(error === undefined || error === null ? {} : { error: toText(error) }),
    ...(typeof stack === 'string' ? { stack } : {}),
    ...toErrorFields(code, data),
    ...(attachments === undefined || attachments === null
      ? {}
      : { attachments: toAttachments(attachments) as ToolResult['attachments'] }),
  };
}

/** Copies the data as JSON, the form in which it is stored. */
function toErrorFields(code: unknown, data: unknown): Pick<ToolResult, 'error_code' | 'error_data'> {
  return {
    ...(typeof code === 'string' ? { error_code: withinLimit(code) } : {}),
    ...(data === undefined || data === null
      ? {}
      : { error_data: JSON.parse(withinLimit(JSON.stringify(data) ?? 'null')) as unknown }),
  };
}

function toText(value: unknown): string {
  return withinLimit(typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value)));
}

function withinLimit(text: string): string {
  if (text.length * 3 <= LIMITS.contentBytes) return text;
  const bytes = utf8Length(text);
  if (bytes <= LIMITS.contentBytes) return text;
  throw new RuntimeError(
    'LimitExceeded',
    `LimitExceeded: The tool returned ${bytes} bytes; a result may have at most ${LIMITS.contentBytes}. Write larger results to a file and return its path.`,
  );
}

/** Copies attachments. Their fields are validated when the files are stored (attachments.ts). */
function toAttachments(given: unknown): unknown[] {
  if (!Array.isArray(given)) throw new TypeError('The attachments of a result must be a list.');
  return Array.from(given, (each) =>
    typeof each === 'object' && each !== null
      ? Object.fromEntries(Object.entries(each).map(([name, field]) => [name, toPlain(field)]))
      : toPlain(each),
  );
}

const PLAIN: readonly string[] = ['string', 'number', 'boolean'];

function toPlain(value: unknown): unknown {
  return PLAIN.includes(typeof value) ? value : null;
}
