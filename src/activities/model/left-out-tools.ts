/**
 * The tools that a model of an execution has refused, in the memory of this worker: they are left out for the rest of the execution.
 * Another worker learns it from one refusal, which the log has as well.
 */
import type { ModelDefinition } from '../../core/author/definition.ts';
import type { ProviderRequest } from '../../core/message/provider.ts';
import { withoutTools } from '../../models/refused-tool.ts';

export interface LeftOutTools {
  add(model: ModelDefinition, tool: string): void;
  without(model: ModelDefinition, request: ProviderRequest): ProviderRequest;
}

/** Names by execution and model; the oldest are forgotten. */
const leftOut = new Map<string, Set<string>>();
const MAX_KEPT = 1000;

export function leftOutTools(threadId: string, executionId: string): LeftOutTools {
  const keyOf = ({ name }: ModelDefinition) => `${threadId} ${executionId} ${name}`;
  return {
    add(model, tool) {
      const key = keyOf(model);
      const names = leftOut.get(key) ?? new Set();
      leftOut.delete(key);
      leftOut.set(key, names.add(tool));
      if (leftOut.size > MAX_KEPT) leftOut.delete(leftOut.keys().next().value as string);
    },
    without: (model, request) => withoutTools(request, leftOut.get(keyOf(model)) ?? NONE),
  };
}

const NONE: ReadonlySet<string> = new Set();
