/** Supersedes the tail of a thread's history (store/message/supersede.ts), and has the thread answer again. */
import { randomUUID } from 'node:crypto';
import { checkFields, pickFields } from '../core/message/message-fields.ts';
import { isItemId } from '../core/thread/item.ts';
import { isRuntimeError, RuntimeError } from '../core/value/error.ts';
import { LIMITS } from '../core/value/limit.ts';
import type { EditedMessage, SupersededTail } from '../store/message/message-record.ts';
import type { Destination, OutgoingMessage } from './outgoing.ts';
import { pathOf, readAttachments, writeAttachments } from './outgoing-file.ts';
import { type OutputType, toOutputSchema } from './outgoing-output.ts';

export interface Supersede {
  /**
   * The message of the user to answer again, one of the agent, or the id of an execution: then what that answers. Absent: the
   * newest of the user.
   */
  readonly messageId?: string | undefined;
  /** Edits the message of the user, which must be named: this is in place of its text and files; metadata is merged. */
  readonly message?: Pick<OutgoingMessage, 'content' | 'metadata' | 'attachments'> | undefined;
  /** The type of the new answer, as of a message; null: none. Absent: that of the superseded answer, if its message gave one. */
  readonly output?: OutputType | null | undefined;
  /** Makes a request idempotent: under the same id, a second one changes nothing. 1 to 64 visible ASCII characters. */
  readonly requestId?: string | undefined;
  /** If true, what the thread does is stopped first; otherwise a thread that works is `ThreadBusy`. */
  readonly cancel?: boolean | undefined;
  /** `end` (default): pending effects and living subagents of the superseded part end. `keep`: they go on. */
  readonly tail?: 'end' | 'keep' | undefined;
  /** If true, actions whose outcome is unknown do not refuse the request, and the model is told of them. */
  readonly acknowledge?: boolean | undefined;
}

/** What the commands of a client do for it. */
export interface SupersedeSteps {
  readonly to: Pick<Destination, 'store' | 'threadId' | 'writeFile'>;
  /** Stops what the thread does. */
  readonly stop: () => Promise<void>;
  /** Resolves once the thread is at rest. */
  readonly rest: () => Promise<unknown>;
  readonly terminate: (childId: string) => Promise<void>;
}

/** Given again under the same `requestId`, it does what the first one may not have come to. */
export async function supersedeTail(
  { to, stop, rest, terminate }: SupersedeSteps,
  { message, messageId, output, requestId = randomUUID(), cancel = false, tail, acknowledge }: Supersede,
): Promise<SupersededTail> {
  const { store, threadId } = to;
  if (!isItemId(requestId))
    throw new RuntimeError(
      'InvalidMessage',
      `"requestId" must be 1 to ${LIMITS.idChars} visible ASCII characters.`,
    );
  const edited = message && (await prepareEdit(to, messageId, message));
  const type = output && toOutputSchema(output);
  const command = { threadId, id: requestId, messageId, edited, output: type, tail, acknowledge };
  const superseded = await atRest(
    () => store.messages.supersede(command),
    cancel ? { stop, rest } : undefined,
  );
  for (const child of superseded.ended) await terminate(child);
  return superseded;
}

/** How often a thread is stopped that is working again each time. */
const STOPS = 5;

/** Something else may begin between the stop and the command. */
async function atRest<Answer>(
  command: () => Promise<Answer>,
  cancel: Pick<SupersedeSteps, 'stop' | 'rest'> | undefined,
): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await command();
    } catch (error) {
      if (!cancel || attempt === STOPS || !isRuntimeError(error, 'ThreadBusy')) throw error;
      await cancel.stop();
      await cancel.rest();
    }
  }
}

async function prepareEdit(
  { threadId, writeFile }: SupersedeSteps['to'],
  messageId: string | undefined,
  message: NonNullable<Supersede['message']>,
): Promise<EditedMessage> {
  if (messageId === undefined)
    throw new RuntimeError(
      'InvalidMessage',
      `Name the message of thread "${threadId}" to edit: "messageId".`,
    );
  const { attachments = [] } = message;
  const { content = '', metadata } = checkFields(pickFields(message));
  if (content === '' && attachments.length === 0)
    throw new RuntimeError(
      'InvalidMessage',
      `The edited message "${messageId}" of thread "${threadId}" has no content.`,
    );
  const files = readAttachments({ threadId, messageId }, attachments);
  await writeAttachments(files, writeFile);
  return { content, metadata, attachments: files.map(pathOf) };
}
