/**
 * Runs model calls as author code: a provider belongs to the project, or to packages that it chose, and runs under its
 * own name. The callbacks, which are our code, run outside that context.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { runAuthorCode } from '../../author/guard/author-run.ts';
import { type CallModelOptions, type CallModelResult, callModel } from '../../models/call-model.ts';

export interface ProviderWork {
  readonly threadId: string;
  /** The key of the work, as in `AuthorRun`. */
  readonly work: string;
}

export function askProvider(of: ProviderWork, options: CallModelOptions): Promise<CallModelResult> {
  const outside = AsyncLocalStorage.snapshot();
  const { variables, onAttempt, onAttemptEnd, onWaiting, onChunk, onTooLong, onRefusedTool } = options;
  const run = { ...of, code: 'model', name: options.models[0]?.name ?? '' } as const;
  return runAuthorCode(run, () =>
    callModel({
      ...options,
      ...(variables && { variables: () => outside(variables) }),
      ...(onAttempt && { onAttempt: (start) => outside(onAttempt, start) }),
      ...(onAttemptEnd && { onAttemptEnd: (end) => outside(onAttemptEnd, end) }),
      ...(onWaiting && { onWaiting: (start) => outside(onWaiting, start) }),
      ...(onTooLong && { onTooLong: (model, refusal) => outside(onTooLong, model, refusal) }),
      ...(onRefusedTool && { onRefusedTool: (model, tool) => outside(onRefusedTool, model, tool) }),
      ...(onChunk && { onChunk: (chunk) => outside(onChunk, chunk) }),
    }),
  );
}
