/**
 * Ends a call with an error code, outside the gate: the call has taken its worker process down three times, or its
 * answer cannot be stored. The result is an error that the model reads. No hook sees it: a hook may be the cause.
 */
import type { StoredError, ToolCallOutcome } from '../../core/thread/step.ts';
import { retryWhileUnavailable } from '../../state/retry-while-unavailable.ts';
import type { ThreadStore } from '../../store/store.ts';
import { abortSignal } from '../base/guard.ts';
import type { ToolResultKey } from './call-info.ts';

export async function giveUpCall(
  store: ThreadStore,
  key: ToolResultKey,
  name: string,
  { code, message }: StoredError,
): Promise<ToolCallOutcome> {
  const result = { status: 'error', error: `${code}: ${message}` } as const;
  const committed = await retryWhileUnavailable(abortSignal(), () =>
    store.toolCalls.commit({
      ...key,
      result,
      message: { metadata: { errorCode: code } },
      judged: true,
      queuedTools: [],
    }),
  );
  if (committed.kind === 'terminated') return committed;
  if (committed.kind === 'late') return { kind: 'unknown', name };
  return { kind: 'done', name: name.slice(0, 64), succeeded: false, queued: 0 };
}
