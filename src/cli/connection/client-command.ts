/** A command that acts on threads: it gets a client, which is opened before and closed after it. */

import type { RuntimeClient } from '../../client/runtime-client.ts';
import { isRuntimeError } from '../../core/value/error.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import {
  type CommandDefinition,
  command,
  type Description,
  type Input,
  type None,
  type Parameters,
  type Result,
} from '../command.ts';
import type { OpenClient } from './open-client.ts';

interface ClientCommand<A, O> extends Description<A, O>, Pick<OpenClient, 'createStore'> {
  act(client: RuntimeClient, input: Input<A, O>): Result;
}

export function clientCommand<A extends Parameters = None, O extends Parameters = None>(
  definition: ClientCommand<A, O>,
): CommandDefinition {
  const { createStore, act } = definition;
  return command({
    ...definition,
    async run(input: Input<A, O>) {
      // Loaded only now: help needs no client.
      const { withClient } = await import('./open-client.ts');
      return withClient({ ...input, createStore }, (client) => act(client, input));
    },
  });
}

/** Finds a thread that may not exist yet: its first message may still be on its way to a worker. */
export async function findThread(client: RuntimeClient, threadId: string): Promise<ThreadRecord | undefined> {
  try {
    return await client.getThread(threadId);
  } catch (error) {
    if (isRuntimeError(error, 'ThreadNotFound')) return undefined;
    throw error;
  }
}
