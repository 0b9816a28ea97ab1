/** Are a tool's arguments what its schema asks for? (definitions §12.4) A refusal is a result that the model reads. */
import type { ToolDefinition } from '../core/definition.ts';
import type { ToolResult } from '../core/message.ts';

export type CheckedCall =
  | { readonly ok: true; readonly tool: ToolDefinition; readonly args: unknown }
  | { readonly ok: false; readonly result: ToolResult };

/**
 * Parsed arguments, defaults applied, or the error result that names each problem. Whoever runs a tool comes by here, and so
 * does who would run what only the provider runs (definitions §6.3).
 */
export function checkArguments(tool: ToolDefinition, args: Readonly<Record<string, unknown>>): CheckedCall {
  if (tool.executionMode === 'provider') {
    return refuseCall(`Tool "${tool.name}" is run by the provider of the model, and by nobody else.`);
  }
  if (!tool.args) return { ok: true, tool, args: undefined };
  const parsed = tool.args.safeParse(args);
  if (parsed.success) return { ok: true, tool, args: parsed.data };
  return refuseCall(`Tool argument validation failed: ${describeIssues(parsed.error.issues)}`);
}

/** `[path] message; …`, as models and logs are told what a schema refused. */
export function describeIssues(
  issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[],
): string {
  return issues.map(({ path, message }) => `[${path.join('.')}] ${message}`).join('; ');
}

export function refuseCall(error: string): CheckedCall {
  return { ok: false, result: { status: 'error', error } };
}
