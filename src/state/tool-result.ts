/** Whatever a tool returned, as a ToolResult. Authors are not always typed; nothing a tool returns is a crash. */
import type { ToolResult } from '../core/message.ts';

export function toToolResult(value: unknown): ToolResult {
  if (typeof value === 'string') return { status: 'success', result: value };
  if (value === undefined || value === null) return { status: 'success' };
  if (typeof value !== 'object' || !('status' in value)) return { status: 'success', result: toText(value) };
  const { status, result, error, stack, attachments } = value as Record<string, unknown>;
  return {
    status: status === 'error' ? 'error' : 'success',
    ...(result === undefined || result === null ? {} : { result: toText(result) }),
    ...(error === undefined || error === null ? {} : { error: toText(error) }),
    ...(typeof stack === 'string' ? { stack } : {}),
    ...(attachments === undefined || attachments === null
      ? {}
      : { attachments: attachments as ToolResult['attachments'] }),
  };
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
}
