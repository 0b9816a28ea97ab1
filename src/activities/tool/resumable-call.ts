/**
 * A call that one attempt holds, whichever worker speaks for it: of a prompt, or of a subagent. It is begun once, whoever comes
 * again, and what it has led to is found by the call; so its outcome is never unknown. Its result is stored as any tool's is.
 */
import type { AttachmentRef, ToolResult } from '../../core/message.ts';
import type { ToolCallInput, ToolCallOutcome } from '../../core/step.ts';
import type { FlowDirective } from '../../core/thread-execution.ts';
import { isHookAborted } from '../../state/hooks/chain.ts';
import { retryWhileUnavailable } from '../../state/retry-while-unavailable.ts';
import type { ThreadStore } from '../../store/port/thread-store.ts';
import type { BegunTool, ToolCallKey } from '../../store/port/tool.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortError, abortSignal } from '../base/guard.ts';
import { fromRun } from '../base/run-ref.ts';
import { toSettledOutcome } from './record-tool-outcome.ts';
import { storeToolResult } from './store-tool-result.ts';
import { openToolFrame, type ToolFrame } from './tool-frame.ts';

/** The name of its one attempt. */
type Holder = 'subprompt' | 'subagent';

/** It has begun and has no result. */
export interface ResumableCall {
  readonly key: ToolCallKey & { readonly attempt: Holder };
  readonly executionId: string;
  readonly begun: Omit<Extract<BegunTool, { kind: 'run' }>, 'kind'>;
}

export type BegunCall =
  | { readonly kind: 'run'; readonly call: ResumableCall }
  | { readonly kind: 'over'; readonly outcome: ToolCallOutcome };

/** Begins the call, or finds that it has begun, or that it is over. */
export async function beginCall(
  { store }: ActivityDependencies,
  { step, index, executionId, ...run }: ToolCallInput,
  attempt: Holder,
): Promise<BegunCall> {
  const key = { ...fromRun(store, run), step, index, attempt };
  const begun = await retryWhileUnavailable(abortSignal(), () =>
    store.beginTool({ ...key, idempotent: () => true }),
  );
  switch (begun.kind) {
    case 'terminated':
      return { kind: 'over', outcome: begun };
    case 'settled':
      return { kind: 'over', outcome: toSettledOutcome(begun) };
    case 'begun_elsewhere':
      throw new Error('This call is begun by whoever comes.');
    case 'run': {
      const { kind: _, ...call } = begun;
      return { kind: 'run', call: { key, executionId, begun: call } };
    }
  }
}

export interface ComposedResult {
  readonly result: ToolResult;
  readonly directive?: FlowDirective;
  /** Of the tool message. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** As any tool's result is stored: hooks, files, one transaction. */
export async function settleCall(
  dependencies: ActivityDependencies,
  call: ResumableCall,
  { result, directive, metadata }: ComposedResult,
): Promise<ToolCallOutcome> {
  return withFrame(dependencies, call, (frame) => {
    if (directive) frame.scratch.flow.directive = directive;
    return storeToolResult(dependencies, frame, call.key, result, metadata ? { metadata } : {});
  });
}

/** Hooks and variables around the call, for as long as `use` takes. */
export async function withFrame<T>(
  dependencies: ActivityDependencies,
  { key: { step, index }, executionId, begun }: ResumableCall,
  use: (frame: ToolFrame) => Promise<T>,
): Promise<T> {
  const frame = openToolFrame(dependencies, { ...begun, step, index, executionId, signal: abortSignal() });
  try {
    return await use(frame);
  } catch (error) {
    if (isHookAborted(error)) throw abortError();
    throw error;
  } finally {
    frame.close();
  }
}

/** Each file once, and those alone that are still there: one that was removed since must not spoil the result. */
export async function keepPresent(
  store: ThreadStore,
  threadId: string,
  attachments: readonly AttachmentRef[],
): Promise<readonly AttachmentRef[]> {
  const byPath = new Map(attachments.map((each) => [each.path, each]));
  const present: AttachmentRef[] = [];
  for (const each of byPath.values()) if (await store.statFile(threadId, each.path)) present.push(each);
  return present;
}
