/**
 * Finds the place of a request's last message in the history of the thread that it names: clients of Chat Completions resend
 * their conversation, from which it can be told that a message was edited, or is to be answered again.
 * - The question and the answer before the last message are looked for, the newest first, whatever the client has left out
 *   before them: clients trim their conversations. If they are the newest of the history, or are not found, the
 *   message is a new one.
 * - A conversation of one message says nothing about its place: the client may keep no history.
 */
import type { RuntimeClient } from '../../../client/runtime-client.ts';
import type { Message } from '../../../core/message/message.ts';
import type { CompletionRequest } from './completion-request.ts';

type Spoken = CompletionRequest['messages'];

export interface CompletionPoint {
  /** The stored message of the user in whose place the last one of the request is. */
  readonly messageId: string;
  /** True if it has the same text. */
  readonly same: boolean;
}

interface Exchange {
  readonly asked: string;
  readonly answered: string;
}

/** Messages of the history that are read. */
const READ = 200;

/** Null if the message is a new one. */
export async function findPoint(
  client: RuntimeClient,
  threadId: string,
  spoken: Spoken,
): Promise<CompletionPoint | null> {
  const before = lastExchange(spoken.slice(0, -1));
  if (before === null) return null;
  const { messages } = await client.getMessages(threadId, { limit: READ });
  const users = messages.flatMap((message, at) => (isOfUser(message) ? [at] : []));
  const next = users.findLastIndex((at, n) => {
    const asked = users[n - 1];
    return n > 0 && asked !== undefined && matches(messages.slice(asked, at), before);
  });
  const message = messages[users[next] ?? -1];
  if (!message) return null;
  const last = spoken.at(-1);
  return { messageId: message.id, same: last !== undefined && textOf(last) === message.content };
}

const isOfUser = ({ role, metadata }: Message): boolean => role === 'user' && metadata.queued !== true;

/** The last question, empty if the client has left it out, with its answer; null if there is no answer. */
function lastExchange(spoken: Spoken): Exchange | null {
  const answer = spoken.findLastIndex(({ role }) => role === 'assistant');
  const answered = spoken[answer];
  if (!answered || spoken.slice(answer).some(({ role }) => role === 'user')) return null;
  const asked = spoken.slice(0, answer).findLast(({ role }) => role === 'user');
  return { asked: asked ? textOf(asked) : '', answered: textOf(answered) };
}

/** A response has the texts of all steps, and its client may have trimmed it. */
function matches([question, ...rest]: readonly Message[], { asked, answered }: Exchange): boolean {
  const answer = rest.findLast(({ role, content }) => role === 'assistant' && content?.trim());
  const [told, last] = [answered.trim(), answer?.content?.trim()];
  if (!last || (told !== last && !told.endsWith(`\n\n${last}`))) return false;
  return asked === '' || asked.trim() === (question?.content ?? '').trim();
}

function textOf({ content }: Spoken[number]): string {
  if (typeof content === 'string') return content;
  const texts = (content ?? []).flatMap(({ type, text }) => (type === 'text' && text ? [text] : []));
  return texts.join('\n');
}
