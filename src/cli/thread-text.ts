/** Threads and messages as people read them. */
import type { Message, ToolCall } from '../core/message.ts';
import type { ThreadRecord } from '../store/port.ts';
import { dateAndTime, type Tone, tone } from './output.ts';
import { shorten, visible } from './terminal-text.ts';

const RESULT_LENGTH = 300;
const CALL_LENGTH = 200;

export function threadHeading(thread: ThreadRecord): string {
  const lines = [
    ['thread', thread.id],
    ['agent', visible(thread.agent)],
    [
      'status',
      tone(statusTone(thread.status), thread.status) +
        (thread.stopReason ? ` (${visible(thread.stopReason)})` : ''),
    ],
    ...(thread.lastError
      ? [['error', `${thread.lastError.code}: ${visible(thread.lastError.message)}`]]
      : []),
    ...(thread.userId === null ? [] : [['user', visible(thread.userId)]]),
    ...(Object.keys(thread.arguments).length === 0
      ? []
      : [['arguments', shorten(JSON.stringify(thread.arguments), CALL_LENGTH)]]),
    ...(thread.parentId === null ? [] : [['parent', thread.parentId]]),
    ['steps', String(thread.lastStep)],
    ['created', dateAndTime(thread.createdAt)],
    ['updated', dateAndTime(thread.updatedAt)],
  ];
  return lines.map(([name = '', value = '']) => `${tone('dim', name.padEnd(10))}${value}`).join('\n');
}

/** A message with its author, then its tool calls, one line each. */
export function messageText(message: Message): string {
  const calls = message.tool_calls ? (JSON.parse(message.tool_calls) as ToolCall[]) : [];
  const lines: string[] = [];
  if (message.role === 'tool') lines.push(toolResultLine(message.name, message.tool_status, message.content));
  else if (message.content) lines.push(`${author(message)}${visible(message.content)}`);
  for (const call of calls) lines.push(toolCallLine(call.function.name, call.function.arguments));
  return lines.join('\n');
}

export function toolCallLine(name: string, callArguments: string): string {
  return tone('cyan', `→ ${shorten(`${name} ${callArguments}`, CALL_LENGTH)}`);
}

export function toolResultLine(
  name: string | null,
  status: Message['tool_status'],
  content: string | null,
): string {
  const failed = status === 'error';
  return tone(
    failed ? 'red' : 'dim',
    `← ${shorten(`${name ?? ''} ${status}: ${content ?? ''}`, RESULT_LENGTH)}`,
  );
}

export function roleLabel(role: Message['role']): string {
  return tone('bold', `${role}:`);
}

export function statusTone(status: ThreadRecord['status']): Tone {
  if (status === 'failed') return 'red';
  if (status === 'running' || status === 'waiting') return 'yellow';
  return status === 'idle' ? 'green' : 'dim';
}

function author({ role, metadata, silent }: Message): string {
  const marks = [
    ...(metadata.queued === true ? ['queued'] : []),
    ...(metadata.stopped === true ? ['stopped'] : []),
    ...(silent ? ['silent'] : []),
  ];
  return `${roleLabel(role)} ${marks.length > 0 ? tone('dim', `(${marks.join(', ')}) `) : ''}`;
}
