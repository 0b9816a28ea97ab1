/** Calls several tools at once: each in its own thread, without a model, through the gate of every call. */

import { awaitCall } from '../../client/call-tool.ts';
import { beginExecution } from '../../client/named-execution.ts';
import { newThreadId } from '../../client/new-thread-id.ts';
import type { RuntimeClient } from '../../client/runtime-client.ts';
import { itemIdOf } from '../../core/thread/execution-id.ts';
import { errorMessage, isRuntimeError } from '../../core/value/error.ts';
import { checkNames, type Names } from '../known-names.ts';
import type { Fields } from './runtime-tool.ts';

export interface BatchCall {
  readonly name: string;
  readonly arguments?: Fields;
}

export interface BatchOptions {
  /**
   * With an id, the batch is taken up by it, in any process: its calls are made once, and calling again returns their
   * results. Other calls under the id are `ExecutionConflict`. Letters, digits and . _ : - alone.
   */
  readonly id?: string;
  /** If true, the first failure stops the running calls, and no other call begins. Default false. */
  readonly failFast?: boolean;
  /** Most calls that run at once: a whole number above 0. Default 4. */
  readonly maxConcurrency?: number;
  /** Milliseconds for each call; default 1,800,000. */
  readonly timeoutMs?: number;
}

const BATCH_OPTIONS: Names<BatchOptions> = {
  id: true,
  failFast: true,
  maxConcurrency: true,
  timeoutMs: true,
};

/** JSON. `skipped`: the call has not begun, because another one had failed. */
export interface BatchOutcome {
  readonly name: string;
  readonly success: boolean;
  readonly result?: string;
  readonly error?: string;
  readonly skipped?: true;
}

interface Batch extends BatchOptions {
  readonly agent: string;
  readonly calls: readonly BatchCall[];
}

export async function callAll(client: RuntimeClient, batch: Batch): Promise<readonly BatchOutcome[]> {
  const { agent, calls, ...options } = batch;
  checkNames('A batch', 'option', options, BATCH_OPTIONS);
  const { id, failFast = false, maxConcurrency = 4, timeoutMs = 1_800_000 } = options;
  const outcomes: BatchOutcome[] = [];
  const running = new Set<string>();
  const left = [...calls.entries()];
  let failed = false;
  const work = async () => {
    for (let next = left.shift(); next; next = left.shift()) {
      const [place, { name, arguments: given = {} }] = next;
      if (failed && failFast) {
        outcomes[place] = { name, success: false, skipped: true, error: 'Another call failed.' };
        continue;
      }
      const threadId = id === undefined ? newThreadId(agent) : `${id}.${place + 1}`;
      running.add(threadId);
      outcomes[place] = await callOne(client, { agent, threadId, name, given, timeoutMs });
      running.delete(threadId);
      if (outcomes[place].success || failed) continue;
      failed = true;
      if (failFast) await Promise.all([...running].map((id) => client.terminate(id, 'Another call failed.')));
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(maxConcurrency, calls.length)) }, work));
  return outcomes;
}

interface OneCall {
  readonly agent: string;
  readonly threadId: string;
  readonly name: string;
  readonly given: Fields;
  readonly timeoutMs: number;
}

async function callOne(
  client: RuntimeClient,
  { agent, threadId, name, given, timeoutMs }: OneCall,
): Promise<BatchOutcome> {
  try {
    const content = { name, arguments: given, unanswered: true };
    await beginExecution(client, { agent, threadId, executionId: threadId, content });
  } catch (error) {
    // Its thread is that of another call.
    if (isRuntimeError(error, 'ExecutionConflict')) throw error;
    return { name, success: false, error: errorMessage(error) };
  }
  try {
    const sent = { threadId, id: itemIdOf(threadId), after: 0, timeoutMs };
    const called = await awaitCall(client.store, sent);
    const content = called.content ?? '';
    if (called.status === 'success') return { name, success: true, result: content };
    const asked = called.waits?.map(({ id }) => id).join(', ');
    return {
      name,
      success: false,
      error: asked === undefined ? content : `It is waiting for a person: ${asked}`,
    };
  } catch (error) {
    return { name, success: false, error: errorMessage(error) };
  } finally {
    // The record of the thread stays. A thread that waits for a person is not terminated.
    const waits = await client.listWaits({ threadId }).catch(() => []);
    if (waits.length === 0) await client.terminate(threadId).catch(() => undefined);
  }
}
