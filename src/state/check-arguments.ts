/** Stages of the tool gate: may this tool run here, and are its arguments what its schema asks for? (definitions §12.4) */
import type { ToolDefinition } from '../core/author/definition.ts';
import type { ToolResult } from '../core/message/message.ts';
import { end, go, type Nothing, type Verdict } from './gate.ts';
import { parseWith } from './parse-arguments.ts';
import type { ThreadEnv } from './thread-env.ts';

/** The end of a gate that a call leaves with its result, which the model or the calling code reads. */
export interface AnsweredCall {
  readonly kind: 'answered';
  readonly result: ToolResult;
}

/** Ends the gate by an error result. */
export function refuseCall(error: string): Verdict<never, AnsweredCall> {
  return end({ kind: 'answered', result: { status: 'error', error } });
}

/**
 * Adds the parsed arguments, defaults applied; the refusal names each problem. Whoever runs a tool comes by here, and so does
 * who would run what only the provider runs (definitions §6.3).
 */
export function checkToolArguments(
  _ports: unknown,
  { tool, given }: { readonly tool: ToolDefinition; readonly given: Readonly<Record<string, unknown>> },
): Verdict<{ readonly args: unknown }, AnsweredCall> {
  if (tool.executionMode === 'provider') {
    return refuseCall(`Tool "${tool.name}" is run by the provider of the model, and by nobody else.`);
  }
  if (!tool.args) return go({ args: undefined });
  const parsed = parseWith(tool.args, given);
  if (parsed.ok) return go({ args: parsed.data });
  return refuseCall(`Tool argument validation failed: ${parsed.problem}`);
}

/** A tool that requires a variable without a value does not run. */
export async function requireVariables(
  _ports: unknown,
  { tool, env }: { readonly tool: ToolDefinition; readonly env: ThreadEnv },
): Promise<Verdict<Nothing, AnsweredCall>> {
  const result = await env.refuseTool(tool);
  return result ? end({ kind: 'answered', result }) : go();
}
