/** Converts messages of a thread to AG-UI's form. */
import type { RuntimeClient } from '../../../client/runtime-client.ts';
import type { Message } from '../../../core/message/message.ts';
import { parseClientToolName } from '../../../core/project/client-tool.ts';
import { callsOf } from '../../../projections/row-message.ts';

/** Number of newest messages in a snapshot, so that it is bounded. */
const MAX_MESSAGES = 1000;

/** Returns the messages that existed at a time, in microseconds since 1970. */
export async function messagesUpTo(
  client: RuntimeClient,
  threadId: string,
  upTo: number,
): Promise<readonly object[]> {
  const { messages } = await client.getMessages(threadId, { limit: MAX_MESSAGES });
  return messages
    .filter(({ status, created_at: at }) => status !== 'pending' && at <= upTo)
    .map(toAgUiMessage);
}

function toAgUiMessage(message: Message): object {
  const { id, role, content, tool_calls: calls, tool_call_id: toolCallId, tool_status: status } = message;
  if (role === 'tool') {
    const error = status === 'error' ? { error: content ?? 'The call has failed.' } : {};
    return { id, role, toolCallId: toolCallId ?? '', content: content ?? '', ...error };
  }
  if (role !== 'assistant' || calls === null) return { id, role, content: content ?? '' };
  const toolCalls = callsOf(message).map(({ id: callId, function: { name, arguments: given } }) => ({
    id: callId,
    type: 'function',
    // A client knows its own tools by its own names.
    function: { name: parseClientToolName(name) ?? name, arguments: given },
  }));
  return { id, role, ...(content === null ? {} : { content }), toolCalls };
}
