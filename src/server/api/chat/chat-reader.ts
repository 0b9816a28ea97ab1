/** Converts a response to UI chunks of the AI SDK. */
import { endAtWait } from '../../../projections/ai-sdk/chat-end.ts';
import { projectChat } from '../../../projections/ai-sdk/chat-projection.ts';
import { beginChat, type ChatReading } from '../../../projections/ai-sdk/chat-state.ts';
import type { UiChunk, UiDialect } from '../../../projections/ai-sdk/ui-chunk.ts';
import type { ResponseReader } from './response-reading.ts';

export function chatReader(dialect: UiDialect): ResponseReader<ChatReading, UiChunk> {
  return {
    begin: beginChat(dialect),
    project: projectChat,
    openOf: ({ response }) => response,
    enter(reading, { seq }, joins) {
      const { messageId = '' } = reading.response ?? {};
      return [reading, [{ type: 'start', messageId: joins ? `${messageId}.${seq}` : messageId }]];
    },
    atWait: ({ response }) => (response ? endAtWait(response) : []),
    failed: ({ message }) => [
      { type: 'error', errorText: message },
      { type: 'finish', finishReason: 'error' },
    ],
    terminated: [{ type: 'abort', reason: 'terminated' }],
  };
}
