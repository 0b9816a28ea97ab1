/** Converts messages of a thread to AG-UI's form. */
import type { RuntimeClient } from '../../../client/runtime-client.ts';
import type { Message } from '../../../core/message/message.ts';
import { parseClientToolName } from '../../../core/project/client-tool.ts';
import { callsOf } from '../../../projections/row-message.ts';
import type { Conversation } from '../conversation/conversation.ts';
import type { GivenIds } from './given-ids.ts';

/** Number of newest messages in a snapshot, so that it is bounded. */
const MAX_MESSAGES = 1000;

export interface SnapshotTerms {
  readonly client: RuntimeClient;
  readonly threadId: string;
  /** Returns the client's own name of a tool. */
  readonly nameOf: Conversation['nameOf'];
  /** The client's own ids of messages and calls. */
  readonly ids: GivenIds;
  /** Gives a file of the thread an address. */
  readonly address: (path: string) => Promise<string>;
}

/** Returns the messages that existed at a time, in microseconds since 1970. */
export async function messagesUpTo(terms: SnapshotTerms, upTo: number): Promise<readonly object[]> {
  const { messages } = await terms.client.getMessages(terms.threadId, { limit: MAX_MESSAGES });
  const told = messages.filter(({ status, created_at: at }) => status !== 'pending' && at <= upTo);
  const ids = terms.ids.ofMessages(told);
  return Promise.all(
    told.map((message, n) => toAgUiMessage({ ...message, id: ids[n] ?? message.id }, terms)),
  );
}

async function toAgUiMessage(message: Message, terms: SnapshotTerms): Promise<object> {
  const { id, role, content, tool_calls: calls, tool_call_id: toolCallId, tool_status: status } = message;
  if (role === 'tool') {
    const error = status === 'error' ? { error: content ?? 'The call has failed.' } : {};
    return {
      id,
      role,
      toolCallId: terms.ids.ofCall(toolCallId ?? ''),
      content: await toContent(message, terms),
      ...error,
    };
  }
  if (role === 'user') return { id, role, content: await toContent(message, terms) };
  if (role !== 'assistant' || calls === null) return { id, role, content: content ?? '' };
  const toolCalls = callsOf(message).map(({ id: callId, function: { name, arguments: given } }) => ({
    id: terms.ids.ofCall(callId),
    type: 'function',
    // A client knows its own tools by its own names.
    function: { name: terms.nameOf(parseClientToolName(name) ?? name), arguments: given },
  }));
  return { id, role, ...(content === null ? {} : { content }), toolCalls };
}

/** The text; with files, parts. */
async function toContent({ content, attachments }: Message, { address }: SnapshotTerms): Promise<unknown> {
  if (!attachments || attachments.length === 0) return content ?? '';
  const files = attachments.map(async ({ path, mimeType }) => ({
    type: MEDIA.exec(mimeType)?.[0] ?? 'document',
    source: { type: 'url', value: await address(path), mimeType },
  }));
  return [...(content ? [{ type: 'text', text: content }] : []), ...(await Promise.all(files))];
}

const MEDIA = /^(image|audio|video)(?=\/)/;
