/**
 * Prepares what a client sends: a message is validated and stored before it is sent, and signalled by its id. New files
 * are written before the message that names them.
 */
import { randomUUID } from 'node:crypto';
import type { GivenContext } from '../core/governance/run-context.ts';
import { checkFields, pickFields } from '../core/message/message-fields.ts';
import { itemIdOf } from '../core/thread/execution-id.ts';
import { isItemId, itemBytes, type MessageItem } from '../core/thread/item.ts';
import { RuntimeError } from '../core/value/error.ts';
import { LIMITS } from '../core/value/limit.ts';
import type { ThreadStore } from '../store/store.ts';
import type { SignalledMessage } from '../workflows/messages.ts';
import { checkExecutionId, claimExecution } from './execution-claim.ts';
import { toContext } from './outgoing-context.ts';
import {
  type OutgoingAttachment,
  pathOf,
  readAttachments,
  type WriteFile,
  writeAttachments,
} from './outgoing-file.ts';
import { type OutputType, outputField } from './outgoing-output.ts';
import { readCalled, type StartCalls } from './start-calls.ts';

export interface OutgoingMessage {
  /**
   * Makes sending idempotent: the same id is stored once, and another text or file under it is `ItemConflict`. 1 to 64 visible
   * ASCII characters; generated when absent.
   */
  readonly id?: string;
  /** `user` (default): the agent answers. `assistant`: recorded as the agent's own message. */
  readonly role?: 'user' | 'assistant';
  /** May be empty if there are attachments. */
  readonly content: string;
  /** Hidden from ordinary lists; the model sees it. */
  readonly silent?: boolean;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Files of the thread by path, or new ones, which become files of the thread under /attachments; at most 20. */
  readonly attachments?: readonly OutgoingAttachment[];
  /**
   * Context of the execution that the message begins or joins. It can only restrict that execution further
   * (docs/governance.md).
   */
  readonly context?: GivenContext;
  /**
   * Id of the execution that this message begins, on its own, once the thread is at rest. Up to 200 visible ASCII
   * characters, unique for the organisation of its context, else for the thread's user, else in the store. The same
   * message again under this id attaches to that execution; a different one is `ExecutionConflict`.
   */
  readonly executionId?: string;
  /**
   * The type of the last answer of the execution that this message begins, on its own, once the thread is at rest: in place
   * of `output` of the agent's side. The value is `output` of the thread. At most 64 KiB of JSON schema, which describes an
   * object (docs/agents.md). Not for `dual_ai` agents, whose threads reject the message.
   */
  readonly output?: OutputType;
}

/** A message of the conversation that a thread begins with. */
export interface StartMessage extends Omit<OutgoingMessage, 'role'>, StartCalls {}

/** A message that is stored: its signal only names it. */
export type StoredMessage = SignalledMessage & { readonly id: string };

export interface Destination {
  readonly store: ThreadStore;
  readonly threadId: string;
  /** The thread's user. */
  readonly userId: string | null;
  /** Writes a new file into the thread. */
  readonly writeFile: WriteFile;
  /** True if the message is of the conversation that the thread begins with. */
  readonly opens?: boolean;
  /** Set if it precedes another one there, which begins an execution of its own. */
  readonly precedes?: true | undefined;
}

/**
 * Throws `InvalidMessage`, `InvalidSchema`, `ItemConflict`, `InvalidValue` for metadata that JSON would change, `MessageTooLarge`, `LimitExceeded`, or the errors of writing
 * a file; nothing has been sent then.
 */
export async function prepareMessage(
  { store, threadId, userId, writeFile, opens = false, precedes }: Destination,
  message: StartMessage,
): Promise<StoredMessage> {
  if (typeof message !== 'object' || message === null) throw invalid('A message must be an object.');
  const { executionId } = message;
  checkExecutionId(executionId);
  const newId = executionId === undefined ? randomUUID() : itemIdOf(executionId);
  const { id = newId, role = 'user', attachments = [] } = message;
  if (!isItemId(id)) throw invalid(`A message's id must be 1 to ${LIMITS.idChars} visible ASCII characters.`);
  if (role !== 'user' && role !== 'assistant' && !(opens && role === 'tool')) {
    throw invalid(`A message's role must be "user" or "assistant", not "${String(role)}".`);
  }
  const called = opens ? readCalled(message) : {};
  const fields = checkFields(pickFields(message));
  const { content = '' } = fields;
  if (message.content == null || (content === '' && attachments.length + Object.keys(called).length === 0))
    throw invalid(`The message for thread "${threadId}" has no content.`);
  const context = toContext(message.context, 'InvalidMessage');
  const output = outputField(message.output);
  if (output.output && role !== 'user')
    throw invalid('Only a message of the role "user" may have an "output".');
  const named = executionId === undefined ? {} : { executionId };
  const files = readAttachments({ threadId, messageId: id }, attachments);
  const attached = files.length > 0 ? { attachments: files.map(pathOf) } : {};
  const item: MessageItem = {
    kind: 'message',
    id,
    role,
    ...fields,
    content,
    ...called,
    ...attached,
    ...context,
    ...named,
    ...output,
    ...(precedes && { precedes }),
  };
  const bytes = itemBytes(item);
  if (bytes > LIMITS.contentBytes) {
    throw new RuntimeError(
      'MessageTooLarge',
      `The message for thread "${threadId}" has ${bytes} bytes; at most ${LIMITS.contentBytes} are allowed.`,
    );
  }
  // Before its files are written: a refused message would leave them without a message that names them.
  if (files.length > 0 && message.id !== undefined) await store.queue.requireRepeat(threadId, item);
  await writeAttachments(files, writeFile);
  const whole = { ...item, id: await claimExecution(store, { threadId, userId, item }) };
  await store.queue.stage(threadId, whole);
  // The workflow asks a model only for a user's message.
  return { id: whole.id, role: role === 'tool' ? 'assistant' : role, stored: true, ...named };
}

function invalid(message: string): RuntimeError {
  return new RuntimeError('InvalidMessage', message);
}
