/** A request as the script needs it: what was asked, and what the tools of this turn have answered so far. */
import type { RecordedRequest } from 'everthread/testing';

export type Messages = RecordedRequest['messages'];
type Arguments = Readonly<Record<string, unknown>>;

interface ToolUse {
  readonly name: string;
  readonly args: Arguments;
  readonly content: string;
}

export interface Turn {
  /** The newest message of the user. */
  readonly asked: string;
  /** What an effect has found out, where nothing else waits for an answer. */
  readonly followUp: string | undefined;
  /** The user's message before that, or an empty text. */
  readonly askedBefore: string;
  /** The last answer before the newest message of the user. */
  readonly lastAnswer: string | undefined;
  /** The newest tool result of this turn. */
  readonly lastTool: ToolUse | undefined;
  resultOf(tool: string): string | undefined;
  argumentsOf(tool: string): Arguments | undefined;
}

export function readTurn(messages: Messages): Turn {
  const start = messages.findLastIndex((message) => message.role === 'user' && !isFollowUp(message));
  const answered = messages.slice(start + 1).some(isAnswer);
  const last = messages.at(-1);
  const before = messages.slice(0, Math.max(0, start));
  const uses = readToolUses(messages.slice(start + 1));
  const lastOf = (tool: string) => uses.findLast(({ name }) => name === tool);
  const answer = before.findLast((message) => message.role === 'assistant' && message.content);
  return {
    asked: textOf(messages[start]),
    followUp: answered && last && isFollowUp(last) ? textOf(last) : undefined,
    askedBefore: textOf(before.findLast((message) => message.role === 'user' && !isFollowUp(message))),
    lastAnswer: answer && textOf(answer),
    lastTool: uses.at(-1),
    resultOf: (tool) => lastOf(tool)?.content,
    argumentsOf: (tool) => lastOf(tool)?.args,
  };
}

/** It may also arrive during a question: then it is not a question of its own. */
function isFollowUp(message: Messages[number]): boolean {
  return message.role === 'user' && textOf(message).startsWith('Follow-up:');
}

function isAnswer(message: Messages[number]): boolean {
  return message.role === 'assistant' && Boolean(message.content) && !message.toolCalls?.length;
}

export function readToolUses(messages: Messages): ToolUse[] {
  const asked = messages.flatMap((message) =>
    message.role === 'assistant' ? (message.toolCalls ?? []) : [],
  );
  return messages.flatMap((message) => {
    if (message.role !== 'tool') return [];
    // An id may be used again by a later call, so the newest call of that id is the one that was answered.
    const call = asked.findLast(({ id }) => id === message.toolCallId);
    return [{ name: message.toolName, args: call?.arguments ?? {}, content: textOf(message) }];
  });
}

export function textOf(message: Messages[number] | undefined): string {
  const content = message?.content ?? '';
  if (typeof content === 'string') return content;
  if (!('type' in content)) return content.map((part) => (part.type === 'text' ? part.text : '')).join(' ');
  return content.type === 'text' ? content.text : content.error;
}
