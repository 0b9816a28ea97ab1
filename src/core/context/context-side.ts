/**
 * A conversation of two AI sides as seen by the acting side (runtime §4, definitions §12.3): its own messages as
 * assistant, those of the other side as user, without the tool calls and results of the other side.
 * - A result belongs to the side whose message made its call. Messages come paired (`pairResults`), so that message
 *   is the one before its results.
 * - Messages of a sub-prompt belong to neither side, and are left unchanged.
 * - The output has the roles of side A. So the conversion changes nothing if side A acts, or if the thread has one AI
 *   side.
 */

import type { Side } from '../author/thread-execution.ts';
import type { MessageRole } from '../message/message.ts';
import { roleOf } from '../thread/session.ts';
import type { ContextMessage } from './context.ts';

export function showToSide(messages: readonly ContextMessage[], side: Side): ContextMessage[] {
  // A result has the side of the message that made its call.
  let resultsShown = true;
  return messages.flatMap((message) => {
    if (message.role === 'tool') return resultsShown ? [message] : [];
    resultsShown = !isFromOther(message, side);
    const shown = resultsShown ? { ...message, role: shownRole(message, side) } : withoutCalls(message, side);
    return shown ? [shown] : [];
  });
}

type Kind = Pick<ContextMessage, 'role' | 'depth'>;

/** The role under which the acting side sees the message. */
export function shownRole({ role, depth }: Kind, side: Side): MessageRole {
  if (depth > 0 || (role !== 'assistant' && role !== 'user')) return role;
  return role === roleOf(side) ? 'assistant' : 'user';
}

/** True for a message of the other side, or of a person. */
export function isFromOther(message: Kind, side: Side): boolean {
  return message.depth === 0 && shownRole(message, side) === 'user';
}

/** Undefined if nothing is left: the other side only called tools. A person's message is always shown. */
function withoutCalls(message: ContextMessage, side: Side): ContextMessage | undefined {
  if (message.step !== null && isEmptyMessage(message)) return undefined;
  return { ...message, role: shownRole(message, side), tool_calls: null, reasoning: null };
}

/** Content and attachments may be missing: hooks may have written the message. */
function isEmptyMessage({ content, attachments }: ContextMessage): boolean {
  return (content ?? '').trim().length === 0 && (attachments ?? []).length === 0;
}
