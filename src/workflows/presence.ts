/**
 * How a thread shows itself to people: status query, current details, search attributes. Details are set anew
 * in every run: they do not survive continue-as-new.
 */
import { defineSearchAttributeKey } from '@temporalio/common';
import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
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
    activity: run.activity,
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
  setCurrentDetails(toDetails(run));
}

function toDetails(run: ThreadRun): string {
  const rows: [string, string][] = [
    ['status', run.parked ? `${run.status} (queued work waits for a user message)` : run.status],
    ['now', run.activity],
    ['agent', run.agent],
    ['step', String(run.totalSteps)],
    ['queued', String(run.queue.size)],
    ...(run.start.parentId === null ? [] : [['parent', run.start.parentId] as [string, string]]),
    ...(run.lastError ? [['last error', `${run.lastError.code}: ${run.lastError.message}`] as [string, string]] : []),
    ['history', `${workflowInfo().historyLength} events`],
  ];
  const table = rows.map(([name, value]) => `| ${name} | ${escapeCell(value)} |`).join('\n');
  return `### Thread ${run.threadId}\n\n| | |\n|---|---|\n${table}\n\nRead it: \`everthread threads show ${run.threadId}\``;
}

/** Text of models and users in a table cell: no line breaks, no column breaks, no end. */
function escapeCell(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/\|/g, '\\|').slice(0, 400);
}
