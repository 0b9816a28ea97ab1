/**
 * A call of a prompt or of a subagent: its attempt has a fixed name, so any worker may go on with it. It is begun once,
 * and what it has made is found by the call; so its outcome is never unknown. Its result is stored like that of any
 * tool.
 */

import type { AuthorRun } from '../../author/guard/author-run.ts';
import { retryWhileUnavailable } from '../../author/guard/retry-while-unavailable.ts';
import type { CallGuard } from '../../author/hooks/call-guard.ts';
import { definesHook } from '../../author/hooks/listed.ts';
import type { AttachmentRef } from '../../core/message/message.ts';
import type { AttemptOutcome, ToolCallInput, ToolCallOutcome } from '../../core/thread/step.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { BeginTool, ToolCallKey } from '../../store/tool/tool-record.ts';
import { failPermanently, type UnitActivity } from '../author/unit.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortSignal } from '../base/guard.ts';
import { beginningAttempt, fromRun } from '../base/run-ref.ts';
import { signalAncestors } from '../signals/wake-relatives.ts';
import type { BegunCallInfo, CallAnswer } from '../tool-gate/call-info.ts';
import { giveUpCall } from '../tool-gate/commit-result.ts';
import { beginsInGate, type NotBegun, toPending } from '../tool-gate/judge-call.ts';
import { type ToolFrame, withToolFrame } from '../tool-gate/tool-frame.ts';
import { storeAnswered } from '../tool-gate/tool-gate.ts';
import { toAttemptOutcome } from './record-tool-outcome.ts';

/** The fixed name of its one attempt. */
type ResumableKind = 'subprompt' | 'subagent';

/** A call without a result: it has begun, or its gate is to begin it. */
export interface ResumableCall {
  readonly key: ToolCallKey & { readonly attempt: ResumableKind };
  readonly executionId: string;
  readonly begun: BegunCallInfo;
}

export type BegunCall<Outcome = ToolCallOutcome> =
  | { readonly kind: 'run'; readonly call: ResumableCall }
  | { readonly kind: 'over'; readonly outcome: Outcome };

/** Begins the call, or finds that it has begun, or that it is over. */
export function beginCall(
  dependencies: ActivityDependencies,
  input: ToolCallInput,
  attempt: ResumableKind,
): Promise<BegunCall> {
  return beginResumable(dependencies, input, attempt, { over: toOverOutcome });
}

/** Like `beginCall`, for a call that its gate begins if it must be judged first; it may wait for an approval. */
export function beginAsked(
  dependencies: ActivityDependencies,
  input: ToolCallInput,
  attempt: ResumableKind,
): Promise<BegunCall<AttemptOutcome>> {
  const judges = beginsInGate(dependencies);
  return beginResumable<AttemptOutcome>(dependencies, input, attempt, { over: toAttemptOutcome, judges });
}

interface BeginTerms<Outcome> extends Pick<BeginTool, 'judges'> {
  readonly over: (begun: NotBegun['begun']) => Outcome;
}

async function beginResumable<Outcome>(
  { store }: ActivityDependencies,
  { step, index, executionId, ...run }: ToolCallInput,
  attempt: ResumableKind,
  { judges, over }: BeginTerms<Outcome>,
): Promise<BegunCall<Outcome>> {
  const key = { ...fromRun(store, run), step, index, attempt };
  const command: BeginTool = { ...key, activity: beginningAttempt(), idempotent: () => true, judges };
  const begun = await retryWhileUnavailable(abortSignal(), () => store.toolCalls.begin(command));
  if (begun.kind !== 'run') return { kind: 'over', outcome: over(begun) };
  // The wait of the call is over: ancestors that show it are updated.
  if (begun.waits && judges) await signalAncestors(store, key.threadId);
  const { kind: _, repeated: __, unbegun: ___, ...call } = begun;
  const pending = toPending(store, command, begun);
  return { kind: 'run', call: { key, executionId, begun: { ...call, ...pending, step, index } } };
}

function toOverOutcome(begun: NotBegun['begun']): ToolCallOutcome {
  const outcome = toAttemptOutcome(begun);
  if (outcome.kind === 'waits') throw new Error('A call that is not judged does not wait.');
  return outcome;
}

/** The hooks before the call; undefined if the project has no such hook. */
export function openGuard(dependencies: ActivityDependencies, call: ResumableCall): CallGuard | undefined {
  if (!definesHook(dependencies.registry(), 'before_tool_call')) return undefined;
  return (asked, args) => withFrame(dependencies, call, ({ hooks }) => hooks.beforeToolCall(asked, args));
}

/** Stores the answer like that of any call: the second half of the tool gate. */
export async function settleCall(
  dependencies: ActivityDependencies,
  call: ResumableCall,
  answer: CallAnswer,
): Promise<ToolCallOutcome> {
  return withFrame(dependencies, call, (frame) =>
    storeAnswered(dependencies, frame, { key: call.key, answer }),
  );
}

/** Opens the hooks and variables around the call while `use` runs. */
export async function withFrame<T>(
  dependencies: ActivityDependencies,
  call: ResumableCall,
  use: (frame: ToolFrame) => Promise<T>,
): Promise<T> {
  return withToolFrame(dependencies, { ...call.begun, executionId: call.executionId }, use);
}

/** Each file once, and only files that still exist: a file that was removed must not fail the result. */
export async function keepExistingFiles(
  store: ThreadStore,
  threadId: string,
  attachments: readonly AttachmentRef[],
): Promise<readonly AttachmentRef[]> {
  const byPath = new Map(attachments.map((each) => [each.path, each]));
  const present: AttachmentRef[] = [];
  for (const each of byPath.values()) if (await store.files.stat(threadId, each.path)) present.push(each);
  return present;
}

/** The request to the prompt, or to the subagent, as a unit of author work. */
export const CALL_UNIT = {
  unit: ({ threadId, step, index }: ToolCallInput): AuthorRun => ({
    code: 'subprompt',
    name: `step ${step}, call ${index}`,
    threadId,
    work: `${threadId}:${step}:${index}`,
  }),
  giveUp: failPermanently,
};

/**
 * The end of such a call, with the hooks around its result. If it is given up, the result is stored without hooks: a
 * call must have a result.
 */
export function callEndUnit(
  holder: 'subprompt' | 'subagent',
): Omit<UnitActivity<ToolCallInput, ToolCallOutcome>, 'run'> {
  return {
    unit: CALL_UNIT.unit,
    async giveUp(dependencies, input, error) {
      const begun = await beginCall(dependencies, input, holder);
      if (begun.kind === 'over') return begun.outcome;
      const { key, begun: held } = begun.call;
      return giveUpCall(dependencies.store, key, held.call.name, error);
    },
  };
}
