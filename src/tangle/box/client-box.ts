/** A box of the Everthread that a client reaches itself: the same as `remoteBox`, without HTTP. Code of its process may answer in place of an agent. */
import { randomUUID } from 'node:crypto';
import { beginExecution, executionPages, executionPagesUntilWait } from '../../client/named-execution.ts';
import { produceExecution } from '../../client/produced-execution.ts';
import type { RuntimeClient } from '../../client/runtime-client.ts';
import { itemIdOf } from '../../core/thread/execution-id.ts';
import { isRuntimeError } from '../../core/value/error.ts';
import type { Box, BoxEvent, PromptOptions } from './remote-box.ts';

export interface ClientBoxOptions {
  /** Who answers, in sessions that begin. */
  readonly agent: string;
  /** Of all prompts that name none. */
  readonly sessionId?: string;
  /** Of sessions that begin. */
  readonly userId?: string;
}

/**
 * Its streams throw what the client refuses with: `ExecutionConflict`, `ThreadTerminated`, `InvalidMessage` …
 * @example
 * ```ts
 * const client = await RuntimeClient.connect();
 * const box = clientBox(client, { agent: 'assistant' });
 * ```
 */
export function clientBox(
  client: RuntimeClient,
  { agent, sessionId, userId }: ClientBoxOptions,
): Box<BoxEvent> & {
  streamPrompt(message: string, options?: PromptOptions): AsyncGenerator<BoxEvent, void>;
} {
  return {
    id: sessionId,
    produces: true,
    async *streamPrompt(content, given = {}) {
      const { executionId = randomUUID(), lastEventId: after, signal, metadata, endAtWait } = given;
      const threadId = given.sessionId ?? sessionId ?? itemIdOf(executionId);
      // Before it is sent: what fails behind it has to do with it.
      const since = await client.getThread(threadId).then(({ lastSeq }) => lastSeq, orZero);
      const begin = { executionId, threadId, content, agent, userId, metadata };
      if (given.produce) await produceExecution(client, { ...begin, produce: given.produce });
      else await beginExecution(client, begin);
      const pagesOf = endAtWait ? executionPagesUntilWait : executionPages;
      for await (const page of pagesOf(client, { threadId, executionId, after, since, signal }))
        for (const { cursor, event } of page) yield { ...event, id: cursor };
      signal?.throwIfAborted();
    },
  };
}

function orZero(error: unknown): number {
  if (isRuntimeError(error, 'ThreadNotFound')) return 0;
  throw error;
}
