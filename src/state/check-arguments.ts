/** Stages of the tool gate: may this tool run here, and are its arguments what its schema asks for? (definitions §12.4) */
import type { ToolDefinition } from '../core/author/definition.ts';
import type { ToolResult } from '../core/message/message.ts';
import { canonicalJson } from '../core/value/canonical-json.ts';
import type { ToldAction } from '../store/port/action.ts';
import { checkSchema } from './check-schema.ts';
import { end, go, type Nothing, type Verdict } from './gate.ts';
import type { ThreadEnv } from './thread-env.ts';

/** The end of a gate that a call leaves with its result, which the model or the calling code reads. */
export interface AnsweredCall {
  readonly kind: 'answered';
  readonly result: ToolResult;
  /** It was not to run; absent where its arguments are what is wrong with it. */
  readonly refused?: true;
  /** Where its policy has refused it. */
  readonly action?: ToldAction;
}

/** Ends the gate by an error result; `told` is for programs. */
export function refuseCall(
  error: string,
  { action, ...told }: Pick<ToolResult, 'error_code' | 'error_data'> & Pick<AnsweredCall, 'action'> = {},
): Verdict<never, AnsweredCall> {
  const result = { status: 'error', error, ...told } as const;
  return end({ kind: 'answered', refused: true, result, ...(action && { action }) });
}

/** The same of a call that could run, if its arguments were what they should be. */
export function refuseArguments(
  error: string,
  told: Pick<ToolResult, 'error_code' | 'error_data'> = {},
): Verdict<never, AnsweredCall> {
  return end({ kind: 'answered', result: { status: 'error', error, ...told } });
}

/**
 * Adds the parsed arguments, defaults applied; the refusal names each problem. Whoever runs a tool comes by here, and so does
 * who would run what only the provider runs (definitions §6.3).
 */
export async function checkToolArguments(
  _ports: unknown,
  { tool, given }: { readonly tool: ToolDefinition; readonly given: Readonly<Record<string, unknown>> },
): Promise<Verdict<{ readonly args: unknown }, AnsweredCall>> {
  if (tool.executionMode === 'provider') {
    return refuseCall(`Tool "${tool.name}" is run by the provider of the model, and by nobody else.`);
  }
  if (!tool.args) return go({ args: undefined });
  const checked = await checkSchema(tool.args, given);
  if (checked.ok) return go({ args: checked.value });
  return refuseArguments(`Tool argument validation failed: ${checked.problems}`);
}

/** What code of the tool may have changed since; `before`: the canonical JSON of what was checked then. */
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

/** A tool that requires a variable without a value does not run. */
export async function requireVariables(
  _ports: unknown,
  { tool, env }: { readonly tool: ToolDefinition; readonly env: ThreadEnv },
): Promise<Verdict<Nothing, AnsweredCall>> {
  const result = await env.refuseTool(tool);
  return result ? end({ kind: 'answered', refused: true, result }) : go();
}
