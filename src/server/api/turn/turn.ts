/**
 * A turn of a client, over any of the protocols: a message, answers to waits, results of the client's own tools. Its
 * first message creates the thread; the client chooses the ids, so a repeated turn is taken once.
 * - The message is queued before waits are answered: the step that goes on then reads all of the turn.
 * - All waits of a turn are looked up before any is answered.
 * T5. The first result of a call counts; repeated results change nothing. A thread asks for several calls one after the
 *     other, and one turn answers each as it is asked.
 */
import { makeThread, nullIfThreadNotFound } from '../../../client/make-thread.ts';
import type { OutgoingMessage, StartMessage } from '../../../client/outgoing.ts';
import { pathOf, readAttachments, writeAttachments } from '../../../client/outgoing-file.ts';
import type { RuntimeClient } from '../../../client/runtime-client.ts';
import { parseClientToolName, toResultValue } from '../../../core/project/client-tool.ts';
import { RuntimeError } from '../../../core/value/error.ts';
import type { WaitAnswer } from '../../../core/wait/answer.ts';
import type { ThreadRecord } from '../../../store/thread/thread-record.ts';
import type { Wait } from '../../../store/wait/wait-record.ts';
import { type AddressedThread, requireThreadOf } from '../agent-thread.ts';
import { type Caller, callerContext, requireScope, withTracedContext } from '../caller.ts';
import type { ClientResult, ClientResults } from '../conversation/conversation.ts';
import type { ApiHost } from '../host.ts';
import { requireAgent } from '../known-agent.ts';
import { findAnswerBegin, findMessageBegin, type ResponseBegin } from './begin.ts';

/** Null if there is no such thread yet. Throws `ThreadNotFound` for one of another agent, or out of the caller's reach. */
export async function findOwnThread(
  { client }: Pick<ApiHost, 'client'>,
  caller: Caller,
  place: AddressedThread,
): Promise<ThreadRecord | null> {
  const found = await client.getThread(place.threadId).catch(nullIfThreadNotFound);
  return found && requireThreadOf(client, caller, place);
}

export interface Sending {
  /** Agent of the thread, if the message creates it. */
  readonly agent: string;
  readonly threadId: string;
  readonly found: ThreadRecord | null;
  readonly userId?: string | undefined;
  /** Arguments of a new thread. */
  readonly given?: Readonly<Record<string, unknown>> | undefined;
  /** Earlier messages, stored if the thread is created. */
  readonly before?: (() => Promise<readonly StartMessage[]>) | undefined;
  /** If true, rejects if another caller has created the thread in the meantime (see `isAlreadyCreated`). */
  readonly alone?: boolean;
}

type NamedMessage = OutgoingMessage & { readonly id: string };

/** Sends a message to a thread, which is created if it was not found. */
export async function sendToThread(
  host: ApiHost,
  caller: Caller,
  { agent, threadId, found, userId, given, before, alone }: Sending,
  message: NamedMessage,
): Promise<void> {
  const { client } = host;
  if (!found) {
    requireAgent(host, agent);
    // Derived, so that a repeated start stores each message once.
    const withId = (each: StartMessage, n: number) => ({ id: `${message.id.slice(0, 56)}-${n}`, ...each });
    const start = {
      agent,
      threadId,
      arguments: given,
      userId: caller.userId ?? userId,
      context: callerContext(caller),
      messages: [...((await before?.()) ?? []).map(withId), message],
    };
    // A concurrent repeat of this message may have created the thread in the meantime.
    const isThere = async () => !alone && (await findOwnThread(host, caller, { agent, threadId }));
    if (await makeThread(client, start, isThere)) return;
  }
  await client.queueMessage(threadId, withTracedContext(caller, message));
}

export interface ClientTurn extends Sending {
  readonly message: NamedMessage | null;
  readonly answers?: readonly TurnAnswer[];
  readonly results?: ClientResults;
}

export interface TurnAnswer {
  readonly waitId: string;
  /** Throws `InvalidRequest` if the answer does not fit the wait. */
  readonly toAnswer: (wait: Wait) => WaitAnswer;
}

/** T5: answers the wait of a call when it is asked. False if there is no result for it. */
export type GiveResult = (waitId: string, callId: string) => Promise<boolean>;

export interface BegunTurn {
  /** Where the response begins; null if the turn changes nothing. */
  readonly begin: ResponseBegin | null;
  readonly give?: GiveResult | undefined;
}

/** Throws `WaitNotFound`, also for a wait of another family, `Forbidden`, and what a start or a message is refused with. */
export function takeTurn(
  host: ApiHost,
  caller: Caller,
  turn: ClientTurn & { readonly message: NamedMessage },
): Promise<BegunTurn & { readonly begin: ResponseBegin }>;
export function takeTurn(host: ApiHost, caller: Caller, turn: ClientTurn): Promise<BegunTurn>;
export async function takeTurn(host: ApiHost, caller: Caller, turn: ClientTurn): Promise<BegunTurn> {
  const { client } = host;
  const { threadId, found, message, results } = turn;
  const by = caller.name === null ? {} : { by: caller.name };
  const answer = (waitId: string, said: WaitAnswer) => client.answerWait(waitId, { ...said, ...by });
  const answers = await findAnswered(client, caller, turn);
  const taken = found && results?.size ? await takeResults(client, threadId, results) : null;
  const sent = message && (await findMessageBegin(client, found ?? { id: threadId, lastSeq: 0 }, message.id));
  const [open, over] = partition(answers, ({ wait }) => wait.state === 'open');
  // What is refused, since a wait has another answer, is refused before the message is queued.
  for (const { wait, answer: said } of over) await answer(wait.id, said);
  if (message) await sendToThread(host, caller, turn, message);
  for (const { wait, answer: said } of [...open, ...(taken?.open ?? [])]) await answer(wait.id, said);
  const begin = await findTurnBegin(client, threadId, { answers, sent, taken });
  if (!taken) return { begin };
  const give: GiveResult = async (id, toolCallId) => {
    const next = await taken.take({ id, toolCallId });
    if (next) await answer(id, next);
    return next !== undefined;
  };
  return { begin, give };
}

function partition<T>(all: readonly T[], holds: (each: T) => boolean): readonly [T[], T[]] {
  return [all.filter(holds), all.filter((each) => !holds(each))];
}

interface TakenTurn {
  readonly answers: readonly Answered[];
  readonly sent: ResponseBegin | null;
  readonly taken: TakenResults | null;
}

/** The response begins at the answers, else at the message, else at the results. */
async function findTurnBegin(
  client: RuntimeClient,
  threadId: string,
  { answers, sent, taken }: TakenTurn,
): Promise<ResponseBegin | null> {
  const beginAt = (waitIds: readonly string[]) => findAnswerBegin(client, threadId, waitIds);
  if (answers.length > 0) return beginAt(answers.map(({ wait }) => wait.id));
  if (sent) {
    const { queued, ...begin } = sent;
    const waits = queued && (await client.listWaits({ threadId })).length > 0;
    return { ...begin, ...(waits && { queued }) };
  }
  if (!taken || taken.ids.length === 0) return null;
  const repeated = taken.open.length === 0 && ({ repeated: true } as const);
  return { ...(await beginAt(taken.ids)), joins: true, ...repeated };
}

interface Answered {
  readonly wait: Pick<Wait, 'id' | 'state'>;
  readonly answer: WaitAnswer;
}

/** Throws before any wait is answered. */
async function findAnswered(
  client: RuntimeClient,
  caller: Caller,
  { threadId, found, answers = [] }: ClientTurn,
): Promise<readonly Answered[]> {
  if (answers.length === 0) return [];
  requireScope(caller, 'answer');
  if (!found) throw new RuntimeError('ThreadNotFound', `There is no thread "${threadId}".`);
  return Promise.all(
    answers.map(async ({ waitId, toAnswer }) => {
      const wait = await client.getWait(waitId);
      if (wait.threadId !== threadId && (await client.getThread(wait.threadId)).rootId !== found.rootId)
        throw new RuntimeError('WaitNotFound', `Thread "${threadId}" has no wait "${wait.id}".`);
      return { wait, answer: toAnswer(wait) };
    }),
  );
}

interface TakenResults {
  /** Answers to the open waits of calls that have a result. */
  readonly open: readonly Answered[];
  /** All waits of calls that have a result and were asked for until now. */
  readonly ids: readonly string[];
  /** T5: returns the answer to the wait of a call; undefined if there is no result for it. */
  readonly take: (call: Pick<Wait, 'id' | 'toolCallId'>) => Promise<WaitAnswer | undefined>;
}

/** Results may be under the model's own id of a call, or the one that clients are given (core/project/client-call-id.ts). */
async function takeResults(
  client: RuntimeClient,
  threadId: string,
  results: ClientResults,
): Promise<TakenResults> {
  const resultOf = ({ id, toolCallId }: Pick<Wait, 'id' | 'toolCallId'>) =>
    results.get(id) ?? results.get(toolCallId ?? '');
  const take: TakenResults['take'] = async (call) => {
    const result = resultOf(call);
    if (!result) return undefined;
    const attachments = await storeFiles(client, { threadId, waitId: call.id, result });
    return { value: toResultValue({ ...result, attachments }) };
  };
  const isAsked = (wait: Wait) =>
    wait.threadId === threadId &&
    wait.kind === 'question' &&
    wait.toolCallId !== null &&
    parseClientToolName(wait.name) !== undefined &&
    resultOf(wait) !== undefined;
  const waits = (await client.listWaits({ threadId })).filter(isAsked);
  const answered = (await client.listWaits({ threadId, state: 'answered', limit: 1000 })).filter(isAsked);
  const open: Answered[] = [];
  for (const wait of waits) {
    const answer = await take(wait);
    if (answer) open.push({ wait, answer });
  }
  return { open, take, ids: [...answered, ...waits].map(({ id }) => id) };
}

interface ResultFiles {
  readonly threadId: string;
  readonly waitId: string;
  readonly result: ClientResult;
}

/** Stores the files before the answer that names them. T3: a repeated result writes the same files, another one others. */
async function storeFiles(
  client: RuntimeClient,
  { threadId, waitId, result: { files } }: ResultFiles,
): Promise<readonly string[]> {
  const { files: place } = client.store;
  const attached = readAttachments({ threadId, messageId: waitId }, files);
  await writeAttachments(attached, (file) => place.write(threadId, file));
  return attached.map(pathOf);
}
