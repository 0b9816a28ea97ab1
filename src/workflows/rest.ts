/** Ends a turn, or the thread: the store closes what is left open, and reports whether there is more to do. */

import { CANCELED } from '../core/governance/cancellation.ts';
import type { CommitStatusInput, CommitStatusOutcome, RestStatus } from '../core/thread/step.ts';
import { isUsedUp } from '../core/thread/step-limit.ts';
import type { Unbound } from './activities.ts';
import type { EndPayload } from './messages.ts';
import type { StepRest } from './step-cycle.ts';
import type { ThreadRun } from './thread-run.ts';

export type Rest = Pick<CommitStatusInput, 'reason' | 'stored' | 'error'> & { readonly status: RestStatus };

/**
 * Ends the turn in the store and closes everything left open; then the thread rests, unless there is more work.
 * `end`: what the activity of the last step may have stored of that.
 */
export async function settle(run: ThreadRun, rest: Rest, end?: StepRest): Promise<void> {
  const { inbox, turn, presence, requests } = run;
  // A stop that came after the activity had stored the end is still to be settled.
  const request = end?.rest ? undefined : requests.stop;
  const outcome = end?.rest ?? (await commitEndOfTurn(run, rest, end?.ordinal));
  if (outcome.kind === 'terminated') {
    run.end();
    return;
  }
  requests.settleStop(request);
  requests.settle();
  const ended: Rest = outcome.canceled ? { status: 'stopped', reason: CANCELED } : rest;
  if (outcome.agent !== undefined) presence.showAgent(outcome.agent);
  inbox.endCount(outcome.waiting);
  if (outcome.reportDue) run.family.oweReport();
  if (end?.threadEnd) run.endByReport(end.threadEnd);
  turn.end({
    afterStep: outcome.step,
    stopReason: stopReasonOf(ended) ?? turn.stopReason,
    error: ended.error ?? null,
  });
  if (outcome.kind === 'rest') {
    if (isUsedUp(ended) || outcome.canceled) inbox.shelve();
    // A thread that ends next shows that alone.
    if (!run.ending) presence.showStatus(ended.status);
  }
  showActivityAtRest(run);
}

function commitEndOfTurn(
  run: ThreadRun,
  rest: Rest,
  ordinal = run.nextOrdinal(),
): Promise<CommitStatusOutcome> {
  const { inbox, turn, presence, requests } = run;
  const { parked: park } = inbox;
  inbox.beginCount();
  return commitRest(run, {
    ...rest,
    ordinal,
    rejections: run.refusals.take(),
    stops: requests.stop && true,
    more: !park && inbox.queue.holdsItems,
    park,
    agent: presence.agent,
    session: turn.session,
  });
}

function commitRest(run: ThreadRun, input: Unbound<CommitStatusInput>): Promise<CommitStatusOutcome> {
  const { status, reason, error } = input;
  const shown = error ? `${status}: ${error.code}` : status;
  return run.activities.commitStatus(input, reason ? `${shown} · ${reason}` : shown);
}

function stopReasonOf({ reason, error, status }: Rest): string | undefined {
  return reason ?? error?.code ?? (status === 'stopped' ? 'stopped' : undefined);
}

/** The unchanged rest state, for a commit that only stores refusals. */
export function toUnchangedRest({ presence, turn }: ThreadRun): Rest {
  const { status: shown } = presence;
  const status: RestStatus = shown === 'stopped' || shown === 'failed' ? shown : 'idle';
  return { status, error: turn.lastError ?? undefined };
}

export function showActivityAtRest({ presence, inbox }: ThreadRun): void {
  presence.showActivity(inbox.parked ? 'stopped; waiting for a user message' : 'waiting for a message');
}

/** Ends the thread permanently, after a request to terminate; the activity of its last step may have stored that. */
export async function end(run: ThreadRun): Promise<void> {
  const { reason } = run.requests.terminate ?? {};
  const outcome = run.storedEnd ?? (await commitEnd(run, run.requests.terminate));
  run.family.end({ reportDue: outcome.kind !== 'rest' || outcome.reportDue === true });
  run.end();
  run.presence.showStatus('terminated');
  run.presence.showActivity(reason ? `terminated: ${reason}` : 'terminated');
}

/** Commits the end of the thread. If it has ended already, this only notifies its children and runs hooks still due. */
export function commitEnd(run: ThreadRun, request: EndPayload = {}): Promise<CommitStatusOutcome> {
  return commitRest(run, {
    status: 'terminated',
    ...request,
    ordinal: run.nextOrdinal(),
    rejections: run.refusals.take(),
  });
}
