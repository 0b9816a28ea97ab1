/** Lists over all threads. A caller with a user or an organisation may list only one thread at a time. */
import type { RuntimeClient } from '../../client/runtime-client.ts';
import { type Caller, isLimited, requireReachable } from './caller.ts';
import { refuseRequest } from './problem.ts';

/** Throws `ThreadNotFound`, or `InvalidRequest` if the caller must name a thread and has not. */
export async function requireThreadAccess(
  client: RuntimeClient,
  caller: Caller,
  threadId: string | undefined,
): Promise<void> {
  if (threadId !== undefined) await requireReachable(client, caller, threadId);
  else if (isLimited(caller))
    refuseRequest(
      'A token of a user or an organisation can read only one thread at a time: give its "threadId".',
    );
}
