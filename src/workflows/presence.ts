/**
 * How a thread shows itself to people: status query, current details, search attributes. Details are set anew
 * in every run: they do not survive continue-as-new.
 */
import { defineSearchAttributeKey } from '@temporalio/common';
import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import type { ThreadStatus } from '../core/step.ts';
import type { StatusView } from './messages.ts';
import type { ThreadRun } from './thread-run.ts';

const THREAD_STATUS = defineSearchAttributeKey('ThreadStatus', 'KEYWORD');
const AGENT_ID = defineSearchAttributeKey('AgentId', 'KEYWORD');
const PARENT_THREAD_ID = defineSearchAttributeKey('ParentThreadId', 'KEYWORD');
const ROOT_THREAD_ID = defineSearchAttributeKey('RootThreadId', 'KEYWORD');

export function toStatusView(run: ThreadRun): StatusView {
  return {
    threadId: run.threadId,
    agent: run.agent,
    status: run.status,
    step: run.totalSteps,
    queued: run.queue.size,
    atRest: !run.wanted,
    activity: run.activity,
    stopReason: run.stopReason,
    ...(run.session ? { side: run.session.side } : {}),
    lastError: run.lastError,
  };
}

/** Attributes that never change; the server carries them through continue-as-new. */
export function announceThread(run: ThreadRun): void {
  if (run.start.carried === null && run.settings?.searchAttributes) {
    const { parentId, rootId } = run.start;
    upsertSearchAttributes([
      { key: THREAD_STATUS, value: run.status },
      { key: AGENT_ID, value: run.agent },
      { key: ROOT_THREAD_ID, value: rootId },
      ...(parentId === null ? [] : [{ key: PARENT_THREAD_ID, value: parentId }]),
    ]);
  }
  showActivity(run, run.activity);
}

/** One event where the status really changes; none otherwise. */
export function showStatus(run: ThreadRun, status: ThreadStatus): void {
  if (run.status === status) return;
  run.status = status;
  if (run.settings?.searchAttributes) upsertSearchAttributes([{ key: THREAD_STATUS, value: status }]);
}

export function showActivity(run: ThreadRun, activity: string): void {
  run.activity = activity;
  refreshDetails(run);
}

/** A handoff has changed it. One event. */
export function showAgent(run: ThreadRun, agent: string): void {
  run.agent = agent;
  if (run.settings?.searchAttributes) upsertSearchAttributes([{ key: AGENT_ID, value: agent }]);
  refreshDetails(run);
}

/** After anything that the details tell of has changed without the activity changing. */
export function refreshDetails(run: ThreadRun): void {
  setCurrentDetails(toDetails(run));
}

function toDetails(run: ThreadRun): string {
  const lines: [string, string][] = [
    ['now', run.activity],
    ['status', run.parked ? `${run.status}; queued work waits for a user message` : run.status],
    ['agent', run.agent],
    ['model', run.model],
    ['step', String(run.totalSteps)],
    ['queued', String(run.queue.size)],
    ['side', run.session?.side ?? ''],
    ['stopped by', run.stopReason ?? ''],
    ['next effect', run.effects.toText()],
    ['parent', run.start.parentId ?? ''],
    ['last error', run.lastError ? `${run.lastError.code}: ${run.lastError.message}` : ''],
  ];
  const list = lines
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `- **${name}:** ${escapeLine(value)}`);
  return `${list.join('\n')}\n\nRead it: \`everthread threads show ${run.threadId}\``;
}

/** Names and errors that others wrote, on one line of markdown and as nothing but text. */
function escapeLine(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/[\\`*_[\]<>#|]/g, '\\$&')
    .slice(0, 400);
}
