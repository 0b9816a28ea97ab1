/**
 * Supersedes the tail of a history: a user's message goes in line again, as it was or edited, and all behind it leaves the
 * history. One transaction, at rest.
 * SU1. Superseded messages are rows of another table, so no reading of the history can have them; rows of the log from
 *      `from_seq` to `to_seq` are theirs, and are left out of what is shown from the log (client/history-rows.ts).
 * - (thread, id of the request) is the key. The message in line is what begins the new answer, so there is one answer
 *   whatever is lost behind this transaction: the thread takes it when it is next woken.
 * - The agent, and which sides have made their immediate calls, are again those of the point.
 * - Values, files and money spent stay. Effects and children of the tail end, unless they are to be kept.
 */
import { hash } from 'node:crypto';
import { type Selectable, sql } from 'kysely';
import type { MessageItem } from '../../core/thread/item.ts';
import type { SupersededPart } from '../../core/thread/superseded.ts';
import { canonicalJson } from '../../core/value/canonical-json.ts';
import { RuntimeError } from '../../core/value/error.ts';
import type { JsonSchema } from '../../core/value/json-schema.ts';
import { definedFields } from '../../core/value/record.ts';
import { updateChild } from '../family/child.ts';
import { type NotedPart, readItem, toItemRow } from '../schema/item-row.ts';
import { COPIED_COLUMNS, toMessage } from '../schema/rows.ts';
import type { MessageTable } from '../schema/tables.ts';
import { type CommandContext, inThread, refuseTerminated } from '../transaction/context.ts';
import { readInBatches, selectRows } from '../transaction/rows.ts';
import { givenContext } from '../transaction/run-context.ts';
import { readJson } from '../transaction/step-place.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { showAbove } from '../wait/shown-wait.ts';
import { storeItem } from './drain.ts';
import { rereadWords, retireSummaries } from './message.ts';
import type { EditedMessage, SupersededTail, SupersedeTail } from './message-record.ts';
import { emitQueued } from './queue.ts';
import {
  distinct,
  eventsOf,
  findUnknown,
  firstStep,
  type LogEvents,
  listed,
  readCalls,
  readCopiedCalls,
  readCost,
  readLog,
  readSteps,
  type TailLog,
  writtenNames,
} from './superseded-tail.ts';

type MessageRow = Selectable<MessageTable>;

/**
 * Rejects with `ThreadBusy` unless the thread is at rest, `OutcomeUnknown`, `MessageNotFound` if there is no such message
 * of a user, `ItemConflict` if the id has asked for something else, `ThreadTerminated`, `ThreadNotFound`.
 */
export async function supersedeTail(
  context: CommandContext,
  command: SupersedeTail,
): Promise<SupersededTail> {
  const { threadId, id } = command;
  const digest = hash(
    'sha256',
    canonicalJson(definedFields({ ...command, id: undefined, acknowledge: undefined })),
  );
  const superseded = await inThread(context, threadId, async (thread) => {
    refuseTerminated(thread);
    const known = await thread.find('superseded_parts', { id });
    if (known && known.digest !== digest)
      throw new RuntimeError(
        'ItemConflict',
        `The request "${id}" has superseded another part of thread "${threadId}": send this under an id of its own.`,
      );
    if (known) return JSON.parse(known.answer) as SupersededTail;
    await refuseBusy(thread);
    const inLine = await findInLine(thread);
    if (inLine === null) return supersede(thread, command, digest);
    // Two that ask for another answer at once get the same one.
    const { messageId = inLine.messageId, edited } = command;
    if (!edited && messageId === inLine.messageId) return inLine;
    return supersede(thread, command, digest, await storeInLine(thread, inLine));
  });
  // Also for a repeated request: its process may have been lost in between.
  if (superseded.ended.length > 0) await showAbove(context, threadId);
  return superseded;
}

async function refuseBusy(thread: ThreadTransaction): Promise<void> {
  const { row } = thread;
  if (row.turn_open === 1 || (await thread.has('executions', { ended_at: null })))
    throw busy(thread, 'is working');
}

function busy({ threadId }: ThreadTransaction, why: string): RuntimeError {
  return new RuntimeError(
    'ThreadBusy',
    `Thread "${threadId}" ${why}: wait until it is at rest, or stop it (\`cancel: true\`), to supersede a part of its history.`,
  );
}

/** The message that is in line to be answered again: nothing is superseded behind it. Null if there is none. */
export async function findInLine(thread: ThreadTransaction): Promise<SupersededTail | null> {
  const newest = await thread
    .select('superseded_parts')
    .select('answer')
    .orderBy('to_seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!newest) return null;
  const answer = JSON.parse(newest.answer) as SupersededTail;
  const waits = await thread.has('items', { id: answer.messageId, state: 'queued' });
  return waits ? answer : null;
}

/** Makes a message of what is in line, so that it can be superseded. Returns what was to be told of the part behind it. */
async function storeInLine(
  thread: ThreadTransaction,
  { messageId: id }: SupersededTail,
): Promise<NotedPart | undefined> {
  const item = readItem(await thread.read('items', { id }));
  await storeItem(thread, item, { executionId: null });
  await thread.update('items', { id }, { state: 'drained', payload: '{}' });
  return item.superseded;
}

async function supersede(
  thread: ThreadTransaction,
  { id, messageId, edited, output, tail: fate = 'end', acknowledge = false }: SupersedeTail,
  digest: string,
  earlier?: NotedPart,
): Promise<SupersededTail> {
  const point = await findPoint(thread, messageId, edited !== undefined);
  const log = await readLog(thread, point);
  const steps = await readSteps(thread, log);
  const copied = await readCopiedCalls(thread, log.events, point);
  const unknown = [
    ...copied.filter(({ outcome }) => outcome === 'unknown').map((call) => call.id),
    ...(await findUnknown(thread, log.events, steps)),
  ];
  if (unknown.length > 0 && !acknowledge)
    throw new RuntimeError(
      'OutcomeUnknown',
      `Thread "${thread.threadId}" cannot supersede what follows message "${point.id}": the outcome of ${unknown.join(', ')} is unknown. Reconcile it, or acknowledge it.`,
    );
  const part: SupersededPart = definedFields({
    calls: listed([...copied.map(({ id: _, ...call }) => call), ...(await readCalls(thread, steps))]),
    effects: listed(await endEffects(thread, log.events, fate)),
    children: listed(await endChildren(thread, log.events, fate)),
    ...writtenNames(log.events),
    acknowledged: listed(unknown),
    costUsd: await readCost(thread, steps),
  });
  await restoreAgent(thread, log);
  const answerType = output === undefined ? await readAnswerType(thread, point) : (output ?? undefined);
  const to = thread.written.event_seq;
  const seq = to + 1;
  const gone = await moveTail(thread, point, { edited: edited !== undefined, seq });
  await thread.delete('messages', { id: point.id });
  thread.set({ message_count: thread.row.message_count - gone - (edited ? 0 : 1) });
  await retireSummaries(thread, point);
  await forgetNotes(thread, point.created_at);
  const revision = edited ? (await thread.count('superseded_messages', { id: point.id })) + 1 : undefined;
  const reason = edited ? ('edit' as const) : ('regenerate' as const);
  const named = { from: log.from, to, reason, messageId: point.id, revision, messages: gone };
  thread.emit('messages.superseded', { ...named, ...part });
  const noted = joinParts(earlier, { ...part, acknowledged: unknown.length > 0 });
  await lineUpAgain(thread, { ...toItem(point, edited, revision), output: answerType }, noted);
  await rereadWords(thread);
  const ended = fate === 'end' ? (part.children ?? []).map((child) => child.id) : [];
  const answer: SupersededTail = { messageId: point.id, seq, messages: gone, ended };
  await thread.insert('superseded_parts', {
    id,
    digest,
    from_seq: log.from,
    to_seq: to,
    answer: JSON.stringify(answer),
  });
  return answer;
}

/** The model has not been told of the earlier part yet. */
function joinParts(earlier: NotedPart | undefined, part: NotedPart): NotedPart {
  if (!earlier) return part;
  const join = <Value>(one: readonly Value[] = [], other: readonly Value[] = []) =>
    listed([...one, ...other]);
  return {
    acknowledged: earlier.acknowledged || part.acknowledged,
    ...definedFields({
      calls: join(earlier.calls, part.calls),
      effects: join(earlier.effects, part.effects),
      children: join(earlier.children, part.children),
      values: join(earlier.values, part.values),
      files: join(earlier.files, part.files),
    }),
  };
}

/** A user's own message, not an answer, a report of a child, or a message of a sub-prompt. */
function selectAsked(thread: ThreadTransaction) {
  return thread
    .select('messages', { role: 'user', depth: 0, silent: 0, step: null })
    .selectAll()
    .orderBy('created_at', 'desc');
}

/** The user's message at which the tail begins. */
async function findPoint(
  thread: ThreadTransaction,
  messageId: string | undefined,
  exact: boolean,
): Promise<MessageRow> {
  const found =
    messageId === undefined
      ? await selectAsked(thread).limit(1).executeTakeFirst()
      : ((await selectAsked(thread).where('id', '=', messageId).executeTakeFirst()) ??
        (exact ? undefined : await findAnswered(thread, messageId)));
  if (found) return found;
  const inLine = { state: ['queued', 'staged'] as const, ...definedFields({ id: messageId }) };
  if (await thread.has('items', inLine)) throw busy(thread, 'has the message in line');
  throw new RuntimeError(
    'MessageNotFound',
    messageId === undefined
      ? `Thread "${thread.threadId}" has no message of a user to answer again.`
      : `Thread "${thread.threadId}" has no message "${messageId}" in its history that a user has sent, and no answer to one.`,
  );
}

/** The message that an answer, or an execution, answers. */
async function findAnswered(thread: ThreadTransaction, id: string): Promise<MessageRow | undefined> {
  const answeredAt = await findAnswerTime(thread, id);
  if (answeredAt === undefined) return undefined;
  return selectAsked(thread).where('created_at', '<', answeredAt).limit(1).executeTakeFirst();
}

/** The time of an answer, or of the first one of an execution; undefined if there is neither. */
async function findAnswerTime(thread: ThreadTransaction, id: string): Promise<number | undefined> {
  const message = await thread.find('messages', { id }, ['created_at']);
  if (message) return message.created_at;
  const execution = await thread.find('executions', { id }, ['first_seq']);
  if (!execution) return undefined;
  const first = await thread
    .select('messages', { execution_id: id })
    .select('created_at')
    .where('step', 'is not', null)
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst();
  if (first) return first.created_at;
  // It has said nothing: that counts only if no other has begun since.
  const newest = await thread
    .select('executions')
    .select('id')
    .orderBy('started_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return newest?.id === id ? Number.MAX_SAFE_INTEGER : undefined;
}

type Fate = 'end' | 'keep';
const toFate = (fate: Fate) => (fate === 'end' ? ('ended' as const) : ('kept' as const));

/** Effects of the tail that have not ended. One that runs is let run, and what it reports is logged. */
async function endEffects(thread: ThreadTransaction, events: LogEvents, fate: Fate) {
  const ids = eventsOf(events, 'effect.scheduled').map(({ data }) => data.id);
  const rows = await readInBatches(ids, (batch) =>
    thread
      .select('effects', { id: batch, state: ['pending', 'running'] })
      .select(['id', 'name'])
      .execute(),
  );
  for (const { id, name } of fate === 'end' ? rows : []) {
    await thread.update('effects', { id }, { state: 'cancelled', ended_at: thread.now });
    thread.emit('effect.cancelled', { id, name });
  }
  return rows.map(({ id, name }) => ({ id, name, fate: toFate(fate) }));
}

/** Children of the tail that are alive; those that it has only asked something stay, and answer no more. */
async function endChildren(thread: ThreadTransaction, events: LogEvents, fate: Fate) {
  const made = new Set(eventsOf(events, 'subagent.created').map(({ data }) => data.childId));
  const asked = eventsOf(events, 'subagent.messaged').map(({ data }) => data.childId);
  const ids = distinct([...made, ...asked]);
  const rows = await readInBatches(ids, (batch) =>
    selectRows(thread.trx, 'children', { parent_id: thread.threadId, child_id: batch, terminated_at: null })
      .select(['child_id', 'agent', 'owes'])
      .execute(),
  );
  for (const { child_id: id } of fate === 'end' ? rows : [])
    await updateChild(thread, id, { superseded: 1, owes: 0 });
  return rows
    .filter(({ child_id: id }) => made.has(id))
    .map(({ child_id: id, agent: name }) => ({ id, name, fate: toFate(fate) }));
}

/** Moves the messages behind the point, and the point itself if it was edited. Returns how many. */
async function moveTail(
  thread: ThreadTransaction,
  { created_at: at }: MessageRow,
  { edited, seq }: { readonly edited: boolean; readonly seq: number },
): Promise<number> {
  const first = edited ? at : at + 1;
  const { count } = await selectFrom(thread, first)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  const columns = ['thread_id', 'metadata', ...COPIED_COLUMNS] as const;
  const moved = selectFrom(thread, first)
    .select(columns)
    .select(sql<number>`cast(${sql.lit(seq)} as bigint)`.as('seq'));
  await thread.trx
    .insertInto('superseded_messages')
    .columns([...columns, 'seq'])
    .expression(moved)
    .execute();
  await thread.trx
    .deleteFrom('messages')
    .where('thread_id', '=', thread.threadId)
    .where('created_at', '>=', first)
    .execute();
  return count;
}

function selectFrom(thread: ThreadTransaction, first: number) {
  return thread.select('messages').where('created_at', '>=', first);
}

/** The agent, and the sides that have made their immediate calls, as at the point. */
async function restoreAgent(thread: ThreadTransaction, { events }: TailLog): Promise<void> {
  const [first] = eventsOf(events, 'thread.agent');
  const { agent: to } = thread.row;
  const agent = first?.data.from ?? to;
  if (agent !== to) {
    thread.set({ agent, next_agent: null });
    thread.emit('thread.agent', { from: to, to: agent });
  }
  const lastStep = (firstStep(events) ?? thread.row.last_step + 1) - 1;
  thread.set({ activated: await readActivated(thread, { agent, lastStep }) });
}

/** The type that the execution of the message had. */
async function readAnswerType(
  thread: ThreadTransaction,
  { execution_id: id }: MessageRow,
): Promise<JsonSchema | undefined> {
  if (id === null) return undefined;
  return readJson((await thread.find('executions', { id }, ['answer_type']))?.answer_type);
}

/** The sides that have made their immediate calls, as the column has them: those of the steps up to this one. */
export async function readActivated(
  thread: ThreadTransaction,
  { agent, lastStep }: { readonly agent: string; readonly lastStep: number },
): Promise<string> {
  const sides = await thread
    .select('steps', { kind: 'model' })
    .select('side')
    .distinct()
    .where('step', '<=', lastStep)
    .execute();
  return JSON.stringify(sides.map(({ side }) => `${agent}:${side}`));
}

/** Notes that memory hooks have taken from the tail. */
async function forgetNotes(thread: ThreadTransaction, at: number): Promise<void> {
  await thread.trx
    .deleteFrom('memory_notes')
    .where('thread_id', '=', thread.threadId)
    .where('noted_at', '>=', at)
    .execute();
}

/** The message at the point, as an item. A run that was cancelled is not cancelled again. */
function toItem(
  point: MessageRow,
  edited: EditedMessage | undefined,
  revision: number | undefined,
): MessageItem {
  const message = toMessage(point);
  const context = givenContext(message);
  const { metadata: given, attachments, content } = edited ?? {};
  const metadata = { ...message.metadata, ...given, ...definedFields({ revision }) };
  const files = edited ? attachments : message.attachments;
  return {
    kind: 'message',
    id: point.id,
    role: 'user',
    content: content ?? message.content ?? '',
    ...(files?.length ? { attachments: files } : {}),
    ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
    ...(context?.canceled ? { context: { ...context, canceled: false, cancelReason: undefined } } : {}),
  };
}

/** `superseded`: for the note to the model, if the agent wants one, when the item is drained (drain.ts). */
async function lineUpAgain(
  thread: ThreadTransaction,
  item: MessageItem,
  superseded: NotedPart,
): Promise<void> {
  const position = thread.row.last_position + 1;
  const { thread_id: _, ...row } = toItemRow(thread.threadId, item, thread.now);
  const payload = JSON.stringify({ ...JSON.parse(row.payload), superseded });
  const columns = { ...row, payload, state: 'queued' as const, position };
  if (!(await thread.insertNew('items', columns))) await thread.update('items', { id: item.id }, columns);
  thread.set({ last_position: position });
  emitQueued(thread, item);
}

/** Rows of the log, the first and the last, of each part of the history that was superseded; in their order. */
export async function listSuperseded(
  { db }: CommandContext,
  threadId: string,
): Promise<readonly { readonly from: number; readonly to: number }[]> {
  const parts = await selectRows(db, 'superseded_parts', { thread_id: threadId })
    .select(['from_seq as from', 'to_seq as to'])
    .execute();
  return parts.sort((one, other) => one.to - other.to);
}
