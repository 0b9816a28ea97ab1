/**
 * Before each request to a model, asks the policy that the agent's budget names (author/policy/judge-spending.ts). If it
 * denies, the reservation refuses the request (store/budget/reserve.ts); if it asks, the step waits for an
 * approval.
 * - An approval is asked for once per reason in an execution. If it is given the execution goes on; otherwise the
 *   request is denied.
 * - If the policy wants a shorter request, the history is compacted, once, before the step's first request. The
 *   policy is then asked about the shorter one.
 */
import { hash, randomUUID } from 'node:crypto';
import { retryWhileUnavailable } from '../../author/guard/retry-while-unavailable.ts';
import { findSpendingPolicy, judgeSpending } from '../../author/policy/judge-spending.ts';
import type { ModelDefinition } from '../../core/author/definition.ts';
import { toSpending } from '../../core/governance/budget-amount.ts';
import { type CallEstimate, toMinimumAmounts } from '../../core/governance/reservation.ts';
import type { SpendingVerdict } from '../../core/governance/spending-verdict.ts';
import type { BlockedStep } from '../../core/thread/step.ts';
import type { StepContext } from '../../store/step/step-place-record.ts';
import { FIRST_CALL } from '../../store/step/step-record.ts';
import type { StepRef } from '../../store/transaction/from-run.ts';
import type { Wait } from '../../store/wait/wait-record.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortSignal } from '../base/guard.ts';
import type { RecordedRequests } from '../model/model-call-record.ts';
import { signalAncestors } from '../signals/wake-relatives.ts';
import { toWaitingCall } from '../tool-gate/waiting-call.ts';

type Ports = Pick<ActivityDependencies, 'store' | 'registry'>;

/** Undefined if only the limits apply. */
export function judgeRequests(
  ports: Ports,
  { step }: StepRef,
  { thread, executionId, runContext: context }: StepContext,
  /** Whether the step's history may be compacted. */
  compacts: boolean,
): RecordedRequests['judge'] {
  const policy = thread.budgeted ? findSpendingPolicy(ports.registry(), thread.agent) : undefined;
  if (!policy) return undefined;
  return async ({ name }: ModelDefinition, estimate: CallEstimate, attempt: number) => {
    const spends = { maxLlmCalls: 1, ...toSpending(toMinimumAmounts(estimate)) };
    const place = { thread, executionId, context, step, signal: abortSignal(), work: `${thread.id}:${step}` };
    const mayCompact = compacts && attempt === FIRST_CALL;
    const spent = { kind: 'model.call', name, spends, mayCompact, ...place } as const;
    const verdict = await judgeSpending(ports.store, policy, spent);
    if (verdict?.effect === 'compact') return { kind: 'compact' };
    if (verdict?.effect !== 'ask') return undefined;
    return askApproval(ports, {
      policy: policy.name,
      verdict,
      spends,
      name,
      threadId: thread.id,
      executionId,
      step,
    });
  };
}

interface Question {
  readonly threadId: string;
  readonly executionId: string;
  readonly step: number;
  readonly policy: string;
  readonly verdict: SpendingVerdict;
  /** What the request takes from the budget. */
  readonly spends: object;
  /** Name of the model. */
  readonly name: string;
}

/** Returns undefined if the question has been answered. */
async function askApproval({ store }: Ports, question: Question): Promise<BlockedStep | undefined> {
  const { threadId, executionId, step, policy, verdict, spends, name } = question;
  const { reason, limit } = verdict;
  const asked = hash('sha256', `${policy} ${reason}`);
  const opened = await retryWhileUnavailable(abortSignal(), () =>
    store.waits.open({
      id: randomUUID(),
      key: `budget:${executionId}:${asked}`,
      threadId,
      executionId,
      kind: 'approval',
      name,
      summary: reason,
      blocks: true,
      data: { kind: 'model.call', policy, reason, limit: limit ?? null, spends },
    }),
  );
  if (opened.kind === 'open') return { kind: 'blocked', wait: toWaitingCall(opened.wait) };
  // The execution goes on: ancestors that still show the wait are updated, once.
  if (opened.kind === 'over' && opened.news) await signalAncestors(store, threadId);
  if (opened.kind === 'over' && !isApproved(opened.wait))
    await store.budgets.emitVerdict({
      threadId,
      step,
      policy,
      effect: 'deny',
      reason: describeRefusal(reason, opened.wait),
      limit,
    });
  return undefined;
}

function isApproved({ answer }: Wait): boolean {
  return answer !== null && 'approved' in answer && answer.approved;
}

function describeRefusal(asked: string, { answer, state, reason }: Wait): string {
  const refusal = answer && 'approved' in answer ? (answer.reason ?? 'refused') : undefined;
  const why = refusal ?? reason ?? state;
  return `${asked}: its approval was not given (${why})`;
}
