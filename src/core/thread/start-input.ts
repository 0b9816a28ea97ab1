/**
 * The start input of a thread's workflow: `{ agent, threadId?, userId?, arguments?, messages?, context?, tags? }`, or with `stored`,
 * the id under which our client has stored arguments, context and tags.
 * Written by hand for the `temporal` CLI as well, so every field is checked and the first problem is described in words. Runs inside
 * the workflow: no schema library.
 */

import { parseContext } from '../governance/given-context.ts';
import type { GivenContext } from '../governance/run-context.ts';
import { measureJson, showJson } from '../value/json-measure.ts';
import { LIMITS } from '../value/limit.ts';
import { isRecord } from '../value/record.ts';
import { type IncomingItem, isItemId, parseMessage } from './item.ts';
import { parseSnapshot, type Snapshot } from './snapshot.ts';
import { parseTags } from './tags.ts';

export const WORKFLOW_ID_PREFIX = 'thread/';

export interface StartInput {
  readonly threadId: string;
  readonly agent: string;
  readonly userId: string | null;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly messages: readonly IncomingItem[];
  readonly parentId: string | null;
  readonly rootId: string;
  /** Initial context of the thread's executions. */
  readonly context?: GivenContext;
  readonly tags?: readonly string[];
  /** Id under which the client has stored arguments, context and tags. */
  readonly stored?: string;
  readonly carried: Snapshot | null;
}

/** A start input that cannot be used; the workflow fails with code `InvalidStart` and this text. */
export class InvalidStart extends Error {
  override readonly name = 'InvalidStart';
}

const THREAD_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]*$/;
/** Names that have routes of their own beside those of one thread (/v1/threads/changes). */
const RESERVED: readonly unknown[] = ['changes', 'counts'];

export function isThreadId(value: unknown): value is string {
  if (typeof value !== 'string' || RESERVED.includes(value)) return false;
  return value.length <= LIMITS.threadIdChars && THREAD_ID.test(value);
}

/** True if the input is deeper than senders may write. Carried state is left out: the previous run has checked it. */
function isTooDeep(input: unknown): boolean {
  if (typeof input !== 'object' || input === null) return false;
  const { carried: _carried, ...others } = input as Record<string, unknown>;
  return measureJson(others, { maxDepth: LIMITS.jsonDepth }).depth > LIMITS.jsonDepth;
}

export function parseStartInput(input: unknown, workflowId: string): StartInput {
  if (!isRecord(input)) throw new InvalidStart('the input must be an object such as {"agent":"assistant"}');
  if (isTooDeep(input)) {
    throw new InvalidStart(`the input is nested deeper than ${LIMITS.jsonDepth} levels`);
  }
  const { messages = [], carried } = input;
  const { canceled, ...standing } = parseStartContext(input);
  const threadId = parseThreadId(input.threadId, workflowId);
  return {
    threadId,
    ...parseCreation(input),
    ...parseFamily(input, threadId),
    ...standing,
    ...parseStored(input),
    messages: parseMessages(messages).map(applyCancellation(canceled)),
    carried: carried === undefined || carried === null ? null : parseSnapshot(carried),
  };
}

type Fields = Readonly<Record<string, unknown>>;

/** The fields that a thread is created with. */
function parseCreation({
  agent,
  userId = null,
  arguments: given = {},
  tags,
}: Fields): Pick<StartInput, 'agent' | 'userId' | 'arguments' | 'tags'> {
  if (typeof agent !== 'string' || agent.length === 0 || agent.length > 128) {
    throw new InvalidStart('"agent" must be the name of an agent');
  }
  if (userId !== null && (typeof userId !== 'string' || userId.length > LIMITS.userIdChars)) {
    throw new InvalidStart(`"userId" must be a string of at most ${LIMITS.userIdChars} characters`);
  }
  if (!isRecord(given)) throw new InvalidStart('"arguments" must be an object');
  if (tags === undefined || tags === null) return { agent, userId, arguments: given };
  const parsed = parseTags(tags);
  if (!parsed.ok) throw new InvalidStart(parsed.reason);
  return { agent, userId, arguments: given, tags: parsed.tags };
}

export function parseStored({ stored }: Fields): { readonly stored?: string } {
  if (stored === undefined || stored === null) return {};
  if (!isItemId(stored)) throw new InvalidStart('"stored" must be the id of stored content');
  return { stored };
}

function parseFamily(
  { parentId = null, rootId }: Fields,
  threadId: string,
): Pick<StartInput, 'parentId' | 'rootId'> {
  if (parentId !== null && !isThreadId(parentId)) throw new InvalidStart('"parentId" must be a thread id');
  const root = rootId === undefined ? threadId : rootId;
  if (!isThreadId(root)) throw new InvalidStart('"rootId" must be a thread id');
  return { parentId, rootId: root };
}

/** A thread itself cannot be cancelled: a context that is `canceled` cancels the thread's first messages instead. */
function parseStartContext({
  context,
}: Fields): Pick<StartInput, 'context'> & { readonly canceled?: GivenContext } {
  if (context === undefined || context === null) return {};
  const parsed = parseContext(context);
  if (!parsed.ok) throw new InvalidStart(parsed.reason);
  const { canceled, cancelReason, ...standing } = parsed.context;
  return { context: standing, ...(canceled ? { canceled: { canceled, cancelReason } } : {}) };
}

function applyCancellation(canceled: GivenContext | undefined): (message: IncomingItem) => IncomingItem {
  return (message) =>
    canceled && message.kind !== 'stored'
      ? { ...message, context: { ...canceled, ...message.context } }
      : message;
}

function parseThreadId(given: unknown, workflowId: string): string {
  if (!workflowId.startsWith(WORKFLOW_ID_PREFIX)) {
    throw new InvalidStart(
      `the workflow id must be "${WORKFLOW_ID_PREFIX}" followed by the thread id, not "${workflowId}"`,
    );
  }
  const threadId = workflowId.slice(WORKFLOW_ID_PREFIX.length);
  if (!isThreadId(threadId)) {
    throw new InvalidStart(
      `"${threadId}" is not a valid thread id: use only letters, digits and . _ : -, at most ${LIMITS.threadIdChars} characters, and neither "changes" nor "counts"`,
    );
  }
  if (given !== undefined && given !== null && given !== threadId) {
    throw new InvalidStart(`"threadId" is ${showJson(given)}, but the workflow id contains "${threadId}"`);
  }
  return threadId;
}

function parseMessages(messages: unknown): IncomingItem[] {
  if (!Array.isArray(messages)) throw new InvalidStart('"messages" must be an array');
  if (messages.length > LIMITS.startMessages) {
    throw new InvalidStart(`"messages" may contain at most ${LIMITS.startMessages} entries`);
  }
  return messages.map((message, index) => {
    const parsed = parseMessage(message, ['user', 'assistant', 'system']);
    if (!parsed.ok) throw new InvalidStart(`messages[${index}]: ${parsed.refusal.reason}`);
    return parsed.value;
  });
}
