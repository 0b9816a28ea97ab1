/**
 * A box over a client of Everthread: the same as `remoteBox`, without HTTP. Code of this process may answer instead of
 * an agent.
 */
import { randomUUID } from 'node:crypto';
import { beginExecution, executionPages, executionPagesUntilWait } from '../../../client/named-execution.ts';
import { produceExecution } from '../../../client/produced-execution.ts';
import type { RuntimeClient } from '../../../client/runtime-client.ts';
import { itemIdOf } from '../../../core/thread/execution-id.ts';
import { isRuntimeError } from '../../../core/value/error.ts';
import type { Box, BoxEvent, PromptOptions } from './remote-box.ts';

export interface ClientBoxOptions {
  /** The agent of sessions that are created. */
  readonly agent: string;
  /** Session of the prompts that name none. */
  readonly sessionId?: string;
  /** The user of sessions that are created. */
  readonly userId?: string;
}

/**
 * The streams throw the errors of the client: `ExecutionConflict`, `ThreadTerminated`, `InvalidMessage` …
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
    attaches: true,
    async *streamPrompt(content, given = {}) {
      const { executionId = randomUUID(), lastEventId: after, signal, metadata, endAtWait } = given;
      const threadId = given.sessionId ?? sessionId ?? itemIdOf(executionId);
      // Read before the prompt is sent: a failure of the thread after this row concerns the prompt.
      const since = await client.getThread(threadId).then(({ lastSeq }) => lastSeq, orZero);
      const begin = { executionId, threadId, content, agent, userId, metadata };
      const { produce, repeatable } = given;
      if (produce) await produceExecution(client, { ...begin, produce, repeatable });
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
