/** Sends messages to threads of the agent "helper" and reads them, for tests; needs no test framework. */
import type { RuntimeClient } from '../../src/client/runtime-client.ts';
import type { Message } from '../../src/core/message/message.ts';

export interface Conversation {
  /** Starts a thread of the agent "helper", waits until it is at rest, and returns its id. */
  start(message?: string): Promise<string>;
  /** Sends a message and waits until the thread is at rest. */
  say(threadId: string, content: string): Promise<void>;
  /** Stored and pending messages, oldest first, silent ones included. */
  messages(threadId: string): Promise<readonly Message[]>;
  /** `role: content` lines, tool results as `tool <name> <status>: content`. */
  transcript(threadId: string): Promise<string[]>;
}

export function conversation(client: RuntimeClient): Conversation {
  const messages = async (threadId: string) =>
    (await client.getMessages(threadId, { limit: 100_000, includeSilent: true })).messages;
  return {
    messages,
    async start(message) {
      const first = message === undefined ? [] : [{ content: message }];
      const { threadId } = await client.startThread({ agent: 'helper', messages: first });
      await client.waitForIdle(threadId);
      return threadId;
    },
    async say(threadId, content) {
      await client.queueMessage(threadId, { content });
      await client.waitForIdle(threadId);
    },
    async transcript(threadId) {
      return (await messages(threadId)).map(
        ({ role, name, content, tool_status: status, tool_calls: calls }) => {
          if (role === 'tool') return `tool ${name} ${status}: ${content}`;
          const asked = calls
            ? ` -> ${(JSON.parse(calls) as { function: { name: string } }[]).map((c) => c.function.name).join(', ')}`
            : '';
          return `${role}: ${content ?? ''}${asked}`;
        },
      );
    },
  };
}
