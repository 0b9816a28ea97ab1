/** Stages of the tool gate: check that the tool may run here, and validate its arguments (definitions §12.4). */
import type { ToolDefinition } from '../../core/author/registry.ts';
import type { ToolResult } from '../../core/message/message.ts';
import { canonicalJson } from '../../core/value/canonical-json.ts';
import { definedFields } from '../../core/value/record.ts';
import type { DecidedAction } from '../../store/action/action-record.ts';
import { end, go, type Nothing, type Verdict } from '../policy/gate.ts';
import type { ThreadEnv } from '../state/thread-env.ts';
import { checkSchema } from './check-schema.ts';

/** End of a gate with a result for the call, which the model or the calling code reads. */
export interface AnsweredCall {
  readonly kind: 'answered';
  readonly result: ToolResult;
  /** Set if the tool must not run at all; absent if only its arguments are invalid. */
  readonly refused?: true;
  /** Set if the call could run with other arguments. */
  readonly invalid?: true;
  /** The judged action; set if its policy or budget has refused it. */
  readonly action?: DecidedAction;
}

/** Ends the gate with an error result; `told` has its code and data, for programs. */
export function refuseCall(
  error: string,
  {
    action,
    invalid,
    ...told
  }: Pick<ToolResult, 'error_code' | 'error_data'> & Pick<AnsweredCall, 'action' | 'invalid'> = {},
): Verdict<never, AnsweredCall> {
  const result = { status: 'error', error, ...told } as const;
  return end({ kind: 'answered', refused: true, result, ...definedFields({ action, invalid }) });
}

/** Ends the gate with an error result for a call that could run with valid arguments. */
export function refuseArguments(
  error: string,
  errorFields: Pick<ToolResult, 'error_code' | 'error_data'> = {},
): Verdict<never, AnsweredCall> {
  return end({ kind: 'answered', invalid: true, result: { status: 'error', error, ...errorFields } });
}

/**
 * Adds the parsed arguments, with defaults; the refusal names each problem. Every call of a tool passes this stage, so
 * it also refuses tools that only the provider runs (definitions §6.3).
 */
export async function checkToolArguments(
  _ports: unknown,
  { tool, given }: { readonly tool: ToolDefinition; readonly given: Readonly<Record<string, unknown>> },
): Promise<Verdict<{ readonly args: unknown }, AnsweredCall>> {
  if (tool.executionMode === 'provider') {
    return refuseCall(`Tool "${tool.name}" can only be run by the model's provider.`);
  }
  if (!tool.args) return go({ args: undefined });
  const checked = await checkSchema(tool.args, given);
  if (checked.ok) return go({ args: checked.value });
  return refuseArguments(`Tool argument validation failed: ${checked.problems}`);
}

/**
 * Validates the arguments again if `prepareAction` has changed them; `before`: canonical JSON of the validated ones.
 */
export async function checkPrepared(
  tool: Pick<ToolDefinition, 'args'>,
  args: unknown,
  before: string,
): Promise<Verdict<{ readonly args: unknown }, AnsweredCall>> {
  if (!tool.args || canonicalJson(args ?? null) === before) return go({ args });
  const checked = await checkSchema(tool.args, args);
  if (checked.ok) return go({ args: checked.value });
  return refuseArguments(`Tool argument validation failed after prepareAction: ${checked.problems}`);
}

/** Refuses a tool that requires a variable without a value. */
export async function requireVariables(
  _ports: unknown,
  { tool, env }: { readonly tool: ToolDefinition; readonly env: ThreadEnv },
): Promise<Verdict<Nothing, AnsweredCall>> {
  const result = await env.refuseTool(tool);
  return result ? end({ kind: 'answered', refused: true, result }) : go();
}
