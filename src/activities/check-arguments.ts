/** Are a tool's arguments what its schema asks for? (definitions §12.4) A refusal is a result that the model reads. */
import type { ToolDefinition } from '../core/definition.ts';
import type { ToolResult } from '../core/message.ts';

export type CheckedCall =
  | { readonly ok: true; readonly tool: ToolDefinition; readonly args: unknown }
  | { readonly ok: false; readonly result: ToolResult };

/** Parsed arguments, defaults applied, or the error result that names each problem. */
export function checkArguments(tool: ToolDefinition, args: Readonly<Record<string, unknown>>): CheckedCall {
  if (!tool.args) return { ok: true, tool, args: undefined };
  const parsed = tool.args.safeParse(args);
  if (parsed.success) return { ok: true, tool, args: parsed.data };
  const issues = parsed.error.issues.map(({ path, message }) => `[${path.join('.')}] ${message}`);
  return refuseCall(`Tool argument validation failed: ${issues.join('; ')}`);
}

export function refuseCall(error: string): CheckedCall {
  return { ok: false, result: { status: 'error', error } };
}
