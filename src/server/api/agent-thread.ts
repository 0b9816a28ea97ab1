/** Threads as the doors of one agent see them: its own, and none of another agent. */
import type { RuntimeClient } from '../../client/runtime-client.ts';
import { RuntimeError } from '../../core/value/error.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import { type Caller, requireReachable } from './caller.ts';

export interface AddressedThread {
  readonly agent: string;
  readonly threadId: string;
}

/** Throws `ThreadNotFound` unless the thread was created for the agent, or has it now, after a handoff. */
export async function requireThreadOf(
  client: RuntimeClient,
  caller: Caller,
  { agent, threadId }: AddressedThread,
): Promise<ThreadRecord> {
  const thread = await requireReachable(client, caller, threadId);
  if (thread.agent === agent || (await findFirstAgent(client, threadId)) === agent) return thread;
  throw new RuntimeError(
    'ThreadNotFound',
    `There is no thread "${threadId}" of the agent "${agent}": it has the agent "${thread.agent}". Address that one, or name another thread.`,
  );
}

/** The first row of a log has the agent that its thread was created for. */
async function findFirstAgent(client: RuntimeClient, threadId: string): Promise<string | undefined> {
  const [first] = await client.store.events.read(threadId, 0, 1);
  return first?.type === 'thread.created' || first?.type === 'thread.forked' ? first.data.agent : undefined;
}
