/** What is left out of a model's next request because its provider has refused it: a tool, or what goes back with answers. */
import type { ModelDefinition } from '../core/author/definition.ts';
import type { ProviderError } from '../core/message/provider.ts';
import type { NextMove } from './attempt-plan.ts';
import type { CallModelOptions } from './call-options.ts';
import { refusesMetadata } from './refused-metadata.ts';
import { findRefusedTool } from './refused-tool.ts';

export interface LeftOut {
  /** True if the request goes without what providers want back with answers. */
  metadata: boolean;
  /** Number of tools. */
  tools: number;
}

/** Tools that are left out for one answer; a provider that refuses more is not asked again. */
const MAX_TOOLS = 8;

/** Returns undefined if nothing can be left out; otherwise notes it in `leftOut`. */
export function leaveOut(
  { request: toRequest, onRefusedTool }: CallModelOptions,
  model: ModelDefinition,
  error: ProviderError,
  leftOut: LeftOut,
): NextMove | undefined {
  const request = toRequest(model, {});
  const mayLeave = onRefusedTool && leftOut.tools < MAX_TOOLS;
  const tool = mayLeave ? findRefusedTool(error, request) : undefined;
  if (tool !== undefined) {
    onRefusedTool?.(model, tool);
    leftOut.tools += 1;
    return { next: 'retry', willRetryInMs: 0, withoutTool: tool };
  }
  if (leftOut.metadata || error.tooLong || !refusesMetadata(error, request)) return undefined;
  leftOut.metadata = true;
  return { next: 'retry', willRetryInMs: 0, withoutMetadata: true };
}
