/** A client's options for a thread that it starts, checked before anything is stored or sent. */
import type { EnvType } from '../core/author/thread-env.ts';
import type { GivenContext } from '../core/governance/run-context.ts';
import { isThreadId, parseStartInput, WORKFLOW_ID_PREFIX } from '../core/thread/start-input.ts';
import { errorMessage, RuntimeError } from '../core/value/error.ts';
import { toJsonObject } from '../core/value/json-value.ts';
import { LIMITS } from '../core/value/limit.ts';
import type { StartMessage } from './outgoing.ts';
import { toContext } from './outgoing-context.ts';

export interface StartThread {
  readonly agent: string;
  /** Generated when absent, and then unguessable. */
  readonly threadId?: string;
  readonly userId?: string;
  /** Readable as `state.arguments`, and as `{{key}}` in prompts. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /**
   * Variables of the new thread, set before anything runs. A plain string becomes a secret; only the store receives them,
   * never the Temporal server.
   */
  readonly env?: Readonly<Record<string, string | { readonly value: string; readonly type?: EnvType }>>;
  /** The first messages, oldest first; of an earlier conversation also its calls of tools, with their results. */
  readonly messages?: readonly StartMessage[];
  /** Context of the thread's executions. The context of a message can only restrict it further (docs/governance.md). */
  readonly context?: GivenContext;
  /** Tags to find the thread by: at most 50, of at most 100 characters each. */
  readonly tags?: readonly string[];
}

export type NewThread = Pick<StartThread, 'agent' | 'userId' | 'arguments' | 'context' | 'tags'> & {
  readonly threadId: string;
};

/** Throws `InvalidStart`, also for what its workflow would refuse; for arguments `InvalidValue` or `LimitExceeded`. */
export function checkStart({ agent, threadId, userId, ...given }: NewThread, messages: number): NewThread {
  if (!isThreadId(threadId))
    throw invalid(`"${String(threadId)}" is not a valid thread id: use only letters, digits and . _ : -`);
  if (messages > LIMITS.startMessages)
    throw invalid(`A thread can start with at most ${LIMITS.startMessages} messages.`);
  const bound = { name: 'arguments', maxBytes: LIMITS.startArgumentBytes };
  const args = given.arguments == null ? undefined : toJsonObject(given.arguments, bound);
  const context = toContext(given.context, 'InvalidStart');
  const tags = given.tags == null ? {} : { tags: given.tags };
  const input = { agent, threadId, userId, arguments: args, ...context, ...tags };
  try {
    parseStartInput(input, WORKFLOW_ID_PREFIX + threadId);
  } catch (error) {
    throw invalid(`The thread cannot start: ${errorMessage(error)}.`);
  }
  return input;
}

function invalid(message: string): RuntimeError {
  return new RuntimeError('InvalidStart', message);
}
