/**
 * The result of a prompt that was called as a tool (definitions §12.6): its text, its calls with their results, and errors,
 * each unless the entry switches it off.
 * - A sub-prompt has one step, so its own model never sees a call that failed. Its caller must see it: the result is
 *   then an error, with everything else included.
 * - With `includeErrors: false` the caller does not learn of failures, by text or by status. What failed is left out;
 *   if nothing remains, the result is an empty success.
 * - If the prompt has a type, an answer without calls is its value.
 */
import { type ToolResult, type ToolStatus, toolError } from '../message/message.ts';
import { parseRecord } from '../value/record.ts';
import type { StoredError } from './step.ts';

export interface SubpromptParts {
  readonly isTyped?: boolean;
  readonly text: string | null;
  readonly error: StoredError | null;
  readonly calls: readonly {
    readonly name: string;
    readonly arguments: string;
    readonly status: ToolStatus;
    readonly content: string;
  }[];
}

/** The switches of a prompt's entry in `tools`. */
export interface SubpromptSwitches {
  readonly includeTextResponse: boolean;
  readonly includeToolCalls: boolean;
  readonly includeErrors: boolean;
}

export function toSwitches(extra: Readonly<Record<string, unknown>> = {}): SubpromptSwitches {
  return {
    includeTextResponse: extra.includeTextResponse !== false,
    includeToolCalls: extra.includeToolCalls !== false,
    includeErrors: extra.includeErrors !== false,
  };
}

export function composeSubpromptResult(
  { text, error, calls, isTyped = false }: SubpromptParts,
  switches: SubpromptSwitches,
): ToolResult {
  const texts = switches.includeTextResponse && text !== null && text.trim().length > 0 ? [text] : [];
  const succeeded = calls.filter(({ status }) => status === 'success');
  const done = switches.includeToolCalls && succeeded.length > 0 ? [listCalls(succeeded)] : [];
  const errors = switches.includeErrors ? listErrors({ error, calls }) : [];
  const output = isTyped && calls.length === 0 ? parseRecord(texts.join('')) : undefined;
  const value = output && { output };
  if (errors.length === 0) return { status: 'success', result: [...texts, ...done].join('\n\n'), ...value };
  return { status: 'error', error: [errors.join('\n'), ...texts, ...done].join('\n\n') };
}

function listCalls(calls: SubpromptParts['calls']): string {
  return ['Tool calls:', ...calls.map((call) => `- ${toCallText(call)} → ${call.content}`)].join('\n');
}

function listErrors({ error, calls }: Pick<SubpromptParts, 'error' | 'calls'>): string[] {
  const failed = calls.filter(({ status }) => status === 'error');
  return [
    ...(error ? [`${error.code}: ${error.message}`] : []),
    ...failed.map((call) => `${toCallText(call)} failed: ${toolError(call.content) ?? call.content}`),
  ];
}

function toCallText({ name, arguments: text }: { name: string; arguments: string }): string {
  return `${name}(${text.trim() === '{}' ? '' : text})`;
}
