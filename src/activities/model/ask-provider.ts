/**
 * Calls models as what they are: code of the project, or of packages that it chose. It runs under its name, and what we write
 * meanwhile does not.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type CallModelOptions, type CallModelResult, callModel } from '../../models/call-model.ts';
import { runAuthorCode } from '../../state/author-run.ts';

export interface ProviderWork {
  readonly threadId: string;
  /** As in AuthorRun. */
  readonly work: string;
}

export function askProvider(of: ProviderWork, options: CallModelOptions): Promise<CallModelResult> {
  const outside = AsyncLocalStorage.snapshot();
  const { variables, onAttempt, onAttemptEnd, onWaiting, onChunk } = options;
  const run = { ...of, code: 'model', name: options.models[0]?.name ?? '' } as const;
  return runAuthorCode(run, () =>
    callModel({
      ...options,
      ...(variables && { variables: () => outside(variables) }),
      ...(onAttempt && { onAttempt: (start) => outside(onAttempt, start) }),
      ...(onAttemptEnd && { onAttemptEnd: (end) => outside(onAttemptEnd, end) }),
      ...(onWaiting && { onWaiting: (start) => outside(onWaiting, start) }),
      ...(onChunk && { onChunk: (chunk) => outside(onChunk, chunk) }),
    }),
  );
}
