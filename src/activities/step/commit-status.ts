/**
 * `commitStatus`: stores the end of an execution, or of the thread (runtime §6, §10), with a child's report to its
 * parent.
 * - The report is stored with the end that it describes, in one transaction; `reportToParent` delivers it.
 * - A project without subagents costs no read.
 * - A thread comes to rest even if the project cannot be read: that may be why it does.
 * - Relatives that wait for approvals and spend from the exceeded budget are signalled before the end is stored.
 *   After that, it is no longer known which budget was exceeded.
 * - Tasks of agents elsewhere, whose calls end with the execution, are cancelled in parallel. A slow agent delays no
 *   rest.
 */

import { cancelUnwantedTasks } from '../../author/remote/cancel-a2a.ts';
import type { Registry } from '../../core/author/registry.ts';
import type { CommitStatusInput, CommitStatusOutcome } from '../../core/thread/step.ts';
import type { SubagentReport } from '../../core/thread/subagent-report.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { EndPayload } from '../../workflows/messages.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { currentAttempt, fromRun } from '../base/run-ref.ts';
import { cascade } from '../signals/cascade.ts';
import { closeApprovals } from '../signals/wake-relatives.ts';
import { composeReport, findReportSource, readLastOutput } from '../subagent/compose-report.ts';
import { runEndHooks } from './end-hooks.ts';

export async function commitStatus(
  dependencies: ActivityDependencies,
  { stored, ...given }: CommitStatusInput,
): Promise<CommitStatusOutcome> {
  const { store, registry, probe } = dependencies;
  const reason = await readReason(store, given.threadId, { ...given, stored });
  const input: CommitStatusInput = reason === undefined ? given : { ...given, reason };
  const run = { ...fromRun(store, input), activity: currentAttempt() };
  const report = await readReport(dependencies, input);
  const hookChanges = await runEndHooks(dependencies, input);
  // The calls that wait for an approval can no longer be paid for.
  if (input.error?.code === 'BudgetExceeded') await closeApprovals(store, input.threadId);
  const outcome = await store.threads.commitStatus({ ...input, ...run, report });
  const terminated = outcome.kind === 'terminated' || input.status === 'terminated';
  if (hookChanges && terminated) await store.executions.markEndHooksRun(input.threadId, hookChanges);
  // The thread may have been terminated in the store since the call above.
  else if (terminated) await runEndHooks(dependencies, input);
  await probe?.('status_committed');
  // Started now; a regular check repeats it if this process is lost or the agent unreachable.
  if (mayHaveA2a(registry))
    void cancelUnwantedTasks(dependencies, dependencies.handover, input.threadId).catch(() => {});
  if (outcome.kind === 'terminated' || !outcome.canceled) {
    await cascade(store, input);
    return outcome;
  }
  await cascade(store, input, outcome.canceled);
  // The workflow needs no reason.
  return { ...outcome, canceled: { reason: null } };
}

async function readReport(
  { store, registry }: ActivityDependencies,
  input: CommitStatusInput,
): Promise<SubagentReport | undefined> {
  const due = findReportSource(input);
  if (due === 'nothing') return undefined;
  const project = readProject(registry);
  if (project && !mayBeChild(project, input)) return undefined;
  if (!(await store.children.get(input.threadId))) return undefined;
  const thread = await store.threads.get(input.threadId);
  const agent = thread ? project?.agents.get(thread.agent) : undefined;
  return composeReport(input, await readLastOutput(store, input, agent));
}

/** The project may be unreadable. */
function readProject(registry: ActivityDependencies['registry']): Registry | undefined {
  try {
    return registry();
  } catch {
    return undefined;
  }
}

/** An agent that is no longer defined may have been a subagent. */
function mayBeChild({ agents }: Registry, { agent }: CommitStatusInput): boolean {
  return (
    agent === undefined || !agents.has(agent) || [...agents.values()].some(({ type }) => type === 'dual_ai')
  );
}

function mayHaveA2a(registry: ActivityDependencies['registry']): boolean {
  return (readProject(registry)?.a2aAgents.size ?? 0) > 0;
}

/** Reads the reason that a client has stored before it signalled the id. */
export async function readReason(
  store: Pick<ThreadStore, 'sent'>,
  threadId: string,
  { reason, stored }: EndPayload,
): Promise<string | undefined> {
  if (stored === undefined) return reason;
  const sent = await store.sent.read(threadId, stored);
  return typeof sent?.reason === 'string' ? sent.reason : reason;
}
