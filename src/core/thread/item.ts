/**
 * Queue items: what `queueMessage`, `queueTool` and `sendMessage` hand to a thread (runtime §9), and the checks that their
 * payloads pass. Hand-written: inside the workflow a schema library would cost bundle size and replay time, and a bad
 * payload is a value here, because a refused signal must never fail a workflow task.
 */
import { readOutputSchema } from '../answer/output-schema.ts';
import { isAttachmentList } from '../file/attachment.ts';
import { readContext } from '../governance/given-context.ts';
import type { GivenContext } from '../governance/run-context.ts';
import { isAnswerId } from '../message/answer-id.ts';
import type { AttachmentRef, ToolCall, ToolStatus } from '../message/message.ts';
import { findMisfit, type MessageFields, pickFields } from '../message/message-fields.ts';
import { measureJson } from '../value/json-measure.ts';
import type { JsonSchema } from '../value/json-schema.ts';
import { LIMITS, utf8Length } from '../value/limit.ts';
import { isRecord } from '../value/record.ts';
import { isExecutionId, itemIdOf } from './execution-id.ts';

/** Calls and results of the conversation that a thread begins with: they are stored as they are, and nothing is run. */
export interface MadeCalls {
  /** Calls of an assistant's message. */
  readonly toolCalls?: readonly ToolCall[];
  /** The call that a message of the role `tool` answers, and its outcome. */
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly toolStatus?: ToolStatus;
}

export interface MessageItem extends MessageFields, MadeCalls {
  readonly kind: 'message';
  readonly id: string;
  readonly role: 'user' | 'assistant' | 'system' | 'tool';
  readonly content: string;
  /** Files of the thread: paths if sent from outside, resolved references if queued by the thread's own code. */
  readonly attachments?: readonly (string | AttachmentRef)[];
  /** Context for the execution that the item begins or joins. */
  readonly context?: GivenContext;
  /** The execution that it begins, alone and from rest (execution-id.ts). */
  readonly executionId?: string;
  /** The type of that execution's last answer: it begins one, alone and from rest, with or without an id for it. */
  readonly output?: JsonSchema;
  /** It precedes another item of the conversation that its thread begins with, which it is taken with. */
  readonly precedes?: true;
}

export interface ToolItem {
  readonly kind: 'tool';
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Queued by code of the project, which may name any tool. */
  readonly origin?: 'code';
  /** No model is asked after the call: if nothing else needs an answer, the execution ends with the call. */
  readonly unanswered?: true;
  /** As in `MessageItem`. */
  readonly context?: GivenContext;
  /** The execution that it begins, alone and from rest (execution-id.ts). */
  readonly executionId?: string;
}

/** The sender stored the content under this id before it signalled. */
export interface StoredItem {
  readonly kind: 'stored';
  readonly id: string;
  readonly role: 'user' | 'assistant';
  /** The execution that it begins, alone and from rest (execution-id.ts). */
  readonly executionId?: string;
}

export type QueueItem = MessageItem | ToolItem | StoredItem;
type Unnamed<T> = T extends unknown ? Omit<T, 'id'> & { readonly id?: string } : never;
/** An item whose sender may have left the id to the thread. */
export type IncomingItem = Unnamed<QueueItem>;

type RefusalCode = 'InvalidMessage' | 'MessageTooLarge' | 'ThreadTerminated' | 'ContentRefused';
export interface Refusal {
  readonly code: RefusalCode;
  readonly reason: string;
  readonly id?: string;
}

export type Parsed<T> = { readonly ok: true; readonly value: T } | Refused;

const ID = /^[\x21-\x7e]+$/;

export function isItemId(value: unknown): value is string {
  return typeof value === 'string' && value.length <= LIMITS.idChars && ID.test(value) && !isAnswerId(value);
}

export function isToolName(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= 128;
}

const BAD_ID = `"id" must be 1 to ${LIMITS.idChars} visible ASCII characters`;

/** Senders may leave the id out, or set it to null. */
function isIdOrAbsent(value: unknown): value is string | null | undefined {
  return value === undefined || value === null || isItemId(value);
}

interface Refused {
  readonly ok: false;
  readonly refusal: Refusal;
}

function refuse(code: Refusal['code'], reason: string, id?: unknown): Refused {
  return { ok: false, refusal: { code, reason, ...(isItemId(id) ? { id } : {}) } };
}

const ATTACHMENTS = `"attachments" must be a list of at most ${LIMITS.attachments} paths of files of the thread, each of at most ${LIMITS.filePathBytes} characters`;

/**
 * `queueMessage` and `sendMessage`: `{ id?, role?, content, silent?, metadata?, attachments?, context?, executionId?, output? }`, or
 * `{ id, stored: true, role?, executionId? }`.
 * `attachments` are paths of files of the thread; with them the content may be empty.
 */
export function parseMessage(
  payload: unknown,
  roles: readonly string[] = ['user', 'assistant'],
): Parsed<IncomingItem> {
  if (!isRecord(payload))
    return refuse('InvalidMessage', 'the payload must be an object with a "content" string');
  const { role = 'user' } = payload;
  const named = readIds(payload);
  if (!named.ok) return named;
  const { id } = named.value;
  if (typeof role !== 'string' || !roles.includes(role)) {
    return refuse('InvalidMessage', `"role" must be one of ${roles.join(', ')}`, id);
  }
  return payload.stored === true
    ? parseStored(named.value, role)
    : parseContent(payload, { ...named.value, role });
}

interface Ids {
  readonly id?: string;
  readonly executionId?: string;
}

const BAD_EXECUTION_ID = `"executionId" must be 1 to ${LIMITS.executionIdChars} visible ASCII characters`;

/** Reads the ids of the item and of its execution. If only the latter is given, the item's id is derived from it. */
function readIds({ id, executionId }: Readonly<Record<string, unknown>>): Parsed<Ids> {
  if (!isIdOrAbsent(id)) return refuse('InvalidMessage', BAD_ID);
  const own = typeof id === 'string' ? { id } : {};
  if (executionId === undefined || executionId === null) return { ok: true, value: own };
  if (!isExecutionId(executionId)) return refuse('InvalidMessage', BAD_EXECUTION_ID, id);
  return { ok: true, value: { id: id ?? itemIdOf(executionId), executionId } };
}

function parseStored({ id, executionId }: Ids, role: string): Parsed<IncomingItem> {
  if (!isItemId(id))
    return refuse('InvalidMessage', 'a stored message needs the "id" under which it is stored');
  return {
    ok: true,
    value: { kind: 'stored', id, role: role as StoredItem['role'], executionId },
  };
}

interface MessageHead extends Ids {
  readonly role: string;
}

function parseContent(
  payload: Readonly<Record<string, unknown>>,
  { id, executionId, role }: MessageHead,
): Parsed<IncomingItem> {
  const { attachments } = payload;
  if (attachments !== undefined && attachments !== null && !isAttachmentList(attachments)) {
    return refuse('InvalidMessage', ATTACHMENTS, id);
  }
  const files = isAttachmentList(attachments) ? attachments : [];
  const fields = pickFields(payload);
  const misfit = findMisfit(fields);
  if (misfit) return refuse('InvalidMessage', `"${misfit.name}" must be ${misfit.words}`, id);
  const given = fields as MessageFields;
  const { content = '', metadata } = given;
  if (content === '' && files.length === 0) {
    return refuse('InvalidMessage', '"content" must be a non-empty string', id);
  }
  if (isTooDeep(metadata)) return refuseDepth('metadata', id);
  const context = readContext(payload);
  if (!context.ok) return refuse('InvalidMessage', context.reason, id);
  const output = payload.output == null ? undefined : readOutputSchema(payload.output);
  if (output?.ok === false) return refuse('InvalidMessage', `"output" ${output.reason}`, id);
  if (output && role !== 'user')
    return refuse('InvalidMessage', 'only a message of the role "user" may have an "output"', id);
  return withinBytes({
    kind: 'message',
    id,
    role: role as MessageItem['role'],
    ...given,
    content,
    ...(files.length > 0 ? { attachments: files } : {}),
    ...context.given,
    executionId,
    output: output?.schema,
  });
}

/** `queueTool`: `{ id?, name, arguments?, unanswered?, context?, executionId? }`. */
export function parseTool(payload: unknown): Parsed<IncomingItem> {
  if (!isRecord(payload))
    return refuse('InvalidMessage', 'the payload must be an object with a "name" string');
  const { name, arguments: args = {} } = payload;
  const named = readIds(payload);
  if (!named.ok) return named;
  const { id } = named.value;
  if (!isToolName(name)) {
    return refuse('InvalidMessage', '"name" must be the name of a tool', id);
  }
  if (!isRecord(args)) return refuse('InvalidMessage', '"arguments" must be an object', id);
  if (isTooDeep(args)) return refuseDepth('arguments', id);
  const context = readContext(payload);
  if (!context.ok) return refuse('InvalidMessage', context.reason, id);
  // Any value but true is ignored, not refused.
  const unanswered = payload.unanswered === true || undefined;
  return withinBytes({ kind: 'tool', ...named.value, name, arguments: args, unanswered, ...context.given });
}

/** Checked before anything else: a recursive function would exhaust its stack on deeper values. */
function isTooDeep(value: unknown): boolean {
  const maxDepth = LIMITS.jsonDepth;
  return measureJson(value, { maxDepth, maxBytes: LIMITS.contentBytes }).depth > maxDepth;
}

function refuseDepth(field: string, id: unknown): Parsed<IncomingItem> {
  return refuse('InvalidMessage', `"${field}" is nested deeper than ${LIMITS.jsonDepth} levels`, id);
}

/** Returns the item, or a refusal if it is larger than a signal may be. */
function withinBytes(item: IncomingItem): Parsed<IncomingItem> {
  const bytes = itemBytes(item);
  if (bytes <= LIMITS.inlineBytes) return { ok: true, value: item };
  return refuse(
    'MessageTooLarge',
    `${bytes} bytes exceed the ${LIMITS.inlineBytes} that a signal may carry; send the item with the everthread client, which stores large content first`,
    item.id,
  );
}

/** Bytes that an item adds to a payload. */
export function itemBytes(item: IncomingItem): number {
  switch (item.kind) {
    case 'stored':
      return 0;
    case 'tool':
      return utf8Length(item.name) + jsonBytes(item.arguments) + jsonBytes(item.context);
    case 'message':
      return [item.metadata, item.attachments, item.context, item.toolCalls, item.output].reduce<number>(
        (sum, each) => sum + jsonBytes(each),
        utf8Length(item.content),
      );
  }
}

/** Stops measuring above the largest allowed content: an author's value may be unbounded. */
function jsonBytes(value: unknown): number {
  return measureJson(value, { maxBytes: LIMITS.contentBytes }).bytes;
}

const SIGNALLED =
  'its content came through Temporal, which this worker refuses (EVERTHREAD_SIGNALLED_CONTENT=refuse); send it with the everthread client, which stores content first';

/** Where the settings refuse content that came through Temporal: the items that name stored content, and a refusal of each other one. */
export function refuseContent(items: readonly QueueItem[]): {
  readonly items: readonly QueueItem[];
  readonly rejections: readonly Refusal[];
} {
  return {
    items: items.filter(({ kind }) => kind === 'stored'),
    rejections: items
      .filter(({ kind }) => kind !== 'stored')
      .map(({ id }) => ({ id, code: 'ContentRefused', reason: SIGNALLED })),
  };
}
