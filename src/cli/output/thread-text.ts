/** Threads and messages for display. */
import type { BudgetLine } from '../../core/governance/budget-line.ts';
import type { AttachmentRef, Message, ToolCall } from '../../core/message/message.ts';
import { escapeControls, shorten } from '../../core/value/shown-text.ts';
import type { ExecutionRecord } from '../../store/execution/execution-record.ts';
import type { ChildRecord } from '../../store/family/family-record.ts';
import type { ThreadRecord, WaitingFor } from '../../store/thread/thread-record.ts';
import { fieldLines } from './listing.ts';
import { dateAndTime, type Tone, tone } from './output.ts';

const RESULT_LENGTH = 300;
const CALL_LENGTH = 200;

/** Related records of a thread: its children, its newest execution, and the budget of that execution. */
interface RelatedRecords {
  /** What it waits for while it runs. */
  readonly activity?: string | undefined;
  readonly children?: readonly ChildRecord[];
  readonly execution?: ExecutionRecord;
  readonly budget?: readonly BudgetLine[];
}

export function threadHeading(
  thread: ThreadRecord,
  { activity, children = [], execution, budget = [] }: RelatedRecords = {},
): string {
  const lines = [
    ...fieldLines(thread, {
      thread: 'id',
      name: ['name', CALL_LENGTH],
      agent: ({ agent }) => escapeControls(agent),
      status: ({ status, stopReason }) =>
        tone(statusTone(status), status + (activity === undefined ? '' : `: ${activity}`)) +
        (stopReason ? ` (${escapeControls(stopReason)})` : ''),
      error: ({ lastError }) => lastError && `${lastError.code}: ${escapeControls(lastError.message)}`,
      user: ({ userId }) => userId && escapeControls(userId),
      organisation: ({ organizationId }) => organizationId && escapeControls(organizationId),
      arguments: ({ arguments: given }) =>
        Object.keys(given).length === 0 ? null : shorten(JSON.stringify(given), CALL_LENGTH),
      parent: 'parentId',
      'fork of': ({ forkedFrom }) => forkedFrom && `${forkedFrom.threadId} after step ${forkedFrom.step}`,
      tags: ({ tags }) => (tags.length === 0 ? null : tags.map(escapeControls).join(', ')),
      children: () => (children.length === 0 ? null : countChildren(children)),
      // Nothing before the session has begun, and of a thread with only one AI side.
      side: ({ session: { side, turns } }) =>
        turns === 0 ? null : `${side} acts next, after ${turns} ${turns === 1 ? 'turn' : 'turns'}`,
    }),
    ...runLines(execution),
    ...fieldLines(thread, { steps: 'lastStep' }),
    ...fieldLines(thread, {
      waits: ({ waitingFor }) =>
        waitingFor &&
        `${shorten(waitingText(waitingFor), CALL_LENGTH)}, since ${dateAndTime(waitingFor.since)}`,
      cost: ({ costUsd }) => (costUsd > 0 ? costText(costUsd) : null),
      tokens: ({ inputTokens, outputTokens }) =>
        inputTokens + outputTokens > 0 ? `${inputTokens} in, ${outputTokens} out` : null,
    }),
    ...budget.map((line) => ['budget', budgetText(thread.id, line)]),
    ...fieldLines(thread, { created: 'createdAt', updated: 'updatedAt' }),
  ];
  return lines.map(([name = '', value = '']) => `${tone('dim', name.padEnd(10))}${value}`).join('\n');
}

export function waitingText({ kind, name }: WaitingFor): string {
  return `${kind} ${name}`;
}

/** A call may cost less than a cent. */
export function costText(usd: number): string {
  return `$${usd.toFixed(4)}`;
}

/** Returns no lines if no context was given. */
function runLines(execution: ExecutionRecord | undefined): string[][] {
  if (!execution?.contextGiven) return [];
  return fieldLines(execution.context, {
    run: ['runId', CALL_LENGTH],
    session: ['sessionId', CALL_LENGTH],
    trace: ['traceId', CALL_LENGTH],
    workspace: ['workspaceUri', CALL_LENGTH],
    agents: ({ agentChain }) =>
      agentChain.length === 0 ? null : shorten(agentChain.join(' → '), CALL_LENGTH),
  });
}

function budgetText(asking: string, { limit, used, max, threadId }: BudgetLine): string {
  const whose = threadId === asking ? '' : ` (of ${threadId})`;
  const text = `${limit}: ${used} of ${max}${whose}`;
  return used >= max ? tone('yellow', text) : text;
}

function countChildren(children: readonly ChildRecord[]): string {
  const living = children.filter(({ terminatedAt }) => terminatedAt === null).length;
  return living === children.length ? `${living}` : `${children.length}, ${living} of them not terminated`;
}

/** A message with its author, then its tool calls and its files, one line each. */
export function messageText(message: Message): string {
  const calls = message.tool_calls ? (JSON.parse(message.tool_calls) as ToolCall[]) : [];
  const lines: string[] = [];
  if (message.role === 'tool') lines.push(toolResultLine(message.name, message.tool_status, message.content));
  else if (message.content) lines.push(`${authorText(message)}${escapeControls(message.content)}`);
  else if (message.attachments) lines.push(authorText(message).trimEnd());
  for (const call of calls) lines.push(toolCallLine(call.function.name, call.function.arguments));
  for (const file of message.attachments ?? []) lines.push(attachmentLine(file));
  return lines.join('\n');
}

/** Formats the line of a file below its message: name, type, size and path. */
function attachmentLine({ name, mimeType, size, path }: AttachmentRef): string {
  return tone(
    'dim',
    `  + ${shorten(name, CALL_LENGTH)} (${shorten(mimeType, 80)}, ${size} bytes) ${shorten(path, CALL_LENGTH)}`,
  );
}

function toolCallLine(name: string, callArguments: string): string {
  return tone('cyan', `→ ${shorten(`${name} ${callArguments}`, CALL_LENGTH)}`);
}

function toolResultLine(name: string | null, status: Message['tool_status'], content: string | null): string {
  const failed = status === 'error';
  return tone(
    failed ? 'red' : 'dim',
    `← ${shorten(`${name ?? ''} ${status}: ${content ?? ''}`, RESULT_LENGTH)}`,
  );
}

function roleLabel(role: Message['role']): string {
  return tone('bold', `${role}:`);
}

export function statusTone(status: ThreadRecord['status']): Tone {
  if (status === 'failed') return 'red';
  if (status === 'running' || status === 'waiting') return 'yellow';
  return status === 'idle' ? 'green' : 'dim';
}

function authorText({ role, metadata, silent }: Message): string {
  const marks = [
    ...(metadata.queued === true ? ['queued'] : []),
    ...(metadata.stopped === true ? ['stopped'] : []),
    ...(silent ? ['silent'] : []),
  ];
  return `${roleLabel(role)} ${marks.length > 0 ? tone('dim', `(${marks.join(', ')}) `) : ''}`;
}
