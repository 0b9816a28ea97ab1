/**
 * Stages: the hooks before a call (docs/hooks.md). Arguments that they change are checked like the model's own; the
 * model reads a refusal. The call has not begun, so after the loss of a worker the hooks merely run again.
 */

import type { CallGuard } from '../../author/hooks/call-guard.ts';
import type { AskedAction } from '../../author/policy/asked-action.ts';
import { go } from '../../author/policy/gate.ts';
import type { Asked } from '../../author/policy/judge-action.ts';
import { checkToolArguments } from '../../author/tool/check-arguments.ts';
import type { AuthorSchema } from '../../core/author/author-schema.ts';
import type { ToolDefinition } from '../../core/author/registry.ts';
import type { ToolCall } from '../../core/message/message.ts';
import type { StoredToolCall } from '../../store/tool/tool-record.ts';
import type { KnownCall } from './call-info.ts';
import { checkPromptArguments, type PromptArguments } from './prompt-input.ts';
import type { ToolFrame } from './tool-frame.ts';

interface CheckedTool extends ToolFrame, Asked {
  readonly tool: ToolDefinition;
  readonly given: Readonly<Record<string, unknown>>;
  readonly args: unknown;
}

/** Runs `before_tool_call` for a tool. */
export async function beforeToolCall(
  ports: unknown,
  { hooks, execution: { call }, tool, given, args, asked }: CheckedTool,
) {
  if (!hooks.has('before_tool_call')) return go({ args, asked });
  const guarded = await hooks.beforeToolCall(toToolCall(call), (args as typeof given | undefined) ?? given);
  if (guarded.kind === 'end') return guarded;
  const { changed } = guarded.added;
  if (!changed) return go({ args, asked });
  const checked = await checkToolArguments(ports, { tool, given: changed });
  if (checked.kind === 'end') return checked;
  return go({ ...checked.added, asked: withArguments(asked, checked.added.args) });
}

export interface GuardedCall {
  /** Undefined if the project has no such hook. */
  readonly guard: CallGuard | undefined;
}

interface CheckedPrompt extends KnownCall, Asked, GuardedCall {
  readonly schema: AuthorSchema | undefined;
  readonly args: PromptArguments;
}

/** Runs `before_tool_call` for a prompt, and for an agent that takes a handoff. */
export async function beforePromptCall(
  ports: unknown,
  { guard, execution, schema, args, asked }: CheckedPrompt,
) {
  if (!guard) return go({ args, asked });
  const guarded = await guard(toToolCall(execution.call), args);
  if (guarded.kind === 'end') return guarded;
  const { changed } = guarded.added;
  if (!changed) return go({ args, asked });
  const call = { ...execution.call, arguments: JSON.stringify(changed) };
  const checked = await checkPromptArguments(ports, { execution: { ...execution, call }, schema });
  if (checked.kind === 'end') return checked;
  return go({ ...checked.added, asked: withArguments(asked, checked.added.args) });
}

function withArguments(asked: AskedAction | undefined, args: unknown): AskedAction | undefined {
  return asked && { ...asked, args };
}

/** The call in the form that hooks receive. */
export function toToolCall({ callId: id, name, arguments: text }: StoredToolCall): ToolCall {
  return { id, type: 'function', function: { name, arguments: text } };
}
