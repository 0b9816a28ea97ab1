/**
 * `reportToParent`: delivers what a child's executions have ended with to its parent (runtime §8.2): it is stored there
 * first, then the parent's workflow is signalled. Returns whether the child has made its last report: its workflow then
 * ends (workflows/thread.ts). `listUnstarted`: children whose workflows have not been started.
 * - A report is delivered once. A worker may be lost before it signalled the parent; so an attempt that finds nothing
 *   due signals it again, and reads from the registry whether the child is done.
 */
import type { ChildStart, ReportOutcome, RunRef, UnstartedOutcome } from '../../core/thread/step.ts';
import { statusAfter } from '../../core/thread/subagent-report.ts';
import { LIMITS } from '../../core/value/limit.ts';
import type { ChildRecord } from '../../store/family/family-record.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { fromRun } from '../base/run-ref.ts';
import { openThreadSignals } from '../signals/thread-signals.ts';
import { signalAncestors } from '../signals/wake-relatives.ts';

export async function reportToParent(
  dependencies: ActivityDependencies,
  input: RunRef,
): Promise<ReportOutcome> {
  const { threadId } = fromRun(dependencies.store, input);
  return { ends: await deliverReports(dependencies, threadId) };
}

/** Returns true if the child has made its last report. */
export async function deliverReports(
  { store, probe }: ActivityDependencies,
  threadId: string,
): Promise<boolean> {
  const due = await store.reports.listDue(threadId);
  if (due.length === 0) return signalParentAgain(store, threadId);
  let ends = false;
  for (const { id, kind, child } of due) {
    await probe?.('report_due');
    const { by, parentEnded, updatesAncestors } = await store.reports.deliver(threadId, id);
    await probe?.('report_delivered');
    if (by !== 'dropped' && !parentEnded) await wakeParent(store, child);
    // The report informs the parent. The ancestors above it must learn that nothing below holds them up.
    if (updatesAncestors && !parentEnded) await signalAncestors(store, child.parentId);
    // A stopped child that is not resumable is done too, once the call that waited for it has its answer.
    ends ||= isDone(child, statusAfter(kind)) || (by === 'call' && !child.resumable);
    await probe?.('report_signalled');
  }
  return ends;
}

/** Signals the parent again; the report itself is delivered once. */
async function signalParentAgain(store: ThreadStore, threadId: string): Promise<boolean> {
  const child = await store.children.get(threadId);
  if (!child) return false;
  const parent = await store.threads.get(child.parentId);
  if (parent?.status !== 'terminated') await wakeParent(store, child);
  return isDone(child, child.status);
}

async function wakeParent(store: ThreadStore, { parentId, threadId }: ChildRecord): Promise<void> {
  await openThreadSignals(store).wake(parentId, { reportOf: threadId });
}

const DONE = ['result', 'failure', 'canceled'] as const;

/** A child that cannot be messaged again has one report to make. */
function isDone({ resumable }: ChildRecord, status: string): boolean {
  return !resumable && DONE.some((kind) => status === statusAfter(kind));
}

const MAX_STARTS = 10;

/** Returns as many as fit into a result. */
export async function listUnstarted(
  { store }: ActivityDependencies,
  input: RunRef,
): Promise<UnstartedOutcome> {
  const { threadId } = fromRun(store, input);
  const found = await store.children.listUnstarted(threadId, MAX_STARTS + 1);
  const children: ChildStart[] = [];
  for (const child of found.slice(0, MAX_STARTS)) {
    const bytes = Buffer.byteLength(JSON.stringify([...children, child]));
    if (children.length > 0 && bytes > LIMITS.activityResultBytes - 200) break;
    children.push(child);
  }
  return { children, more: found.length > children.length };
}
