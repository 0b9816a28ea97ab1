/** A client's options for a thread that it starts, checked before anything is stored or sent. */
import type { EnvType } from '../core/author/thread-env.ts';
import type { GivenContext } from '../core/governance/run-context.ts';
import { isThreadId, parseStartInput, WORKFLOW_ID_PREFIX } from '../core/thread/start-input.ts';
import { errorMessage, RuntimeError } from '../core/value/error.ts';
import { toJsonObject } from '../core/value/json-value.ts';
import { LIMITS } from '../core/value/limit.ts';
import type { OutgoingMessage, StartMessage } from './outgoing.ts';
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

export interface ForkThread {
  /** The step to fork after; if it has not settled, the one before. Unless given, the newest. */
  readonly at?: number | undefined;
  /** Id of the new thread, under which the same fork again changes nothing. Generated when absent. */
  readonly threadId?: string | undefined;
  /** Another agent than that of the step. */
  readonly agent?: string | undefined;
  /** The first message. */
  readonly message?: OutgoingMessage | undefined;
  /**
   * Values, files and variables are copied if the step is the newest. `current`: also after an earlier step, as they are
   * now; the fork names what has changed since.
   */
  readonly state?: 'current' | undefined;
  /** Another owner than that of the thread: its secrets are then not copied. */
  readonly userId?: string | undefined;
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

/** Throws `InvalidStart`. */
export function checkFork(
  threadId: string,
  { agent = 'any', state, userId }: Pick<ForkThread, 'agent' | 'state' | 'userId'>,
): void {
  if (state !== undefined && state !== 'current')
    throw invalid(`The state of a fork is "current" or not given, not ${JSON.stringify(state)}.`);
  checkStart({ agent, threadId, userId }, 0);
}

function invalid(message: string): RuntimeError {
  return new RuntimeError('InvalidStart', message);
}
