/**
 * The body of a call of an agent elsewhere (docs/a2a.md): it sends one message, follows the task, and returns its
 * answer as the result of a tool. Each attempt continues from what the previous one has stored.
 * S1. The endpoint is stored before the message is sent. If an attempt finds an endpoint but no task, it is unknown
 *     whether the message was received: it is sent again if the agent deduplicates messages by id. Otherwise the task
 *     is searched for, and the call is lost if it is not found.
 * - Whatever an agent does becomes a result with a code. A task that may still run then is cancelled by a regular
 *   check (cancel-a2a.ts), even if this process or the call is gone.
 * - Nothing is held open for long: an attempt ends after a while, and the call is resumed later.
 *
 * Follows a task of an agent elsewhere, once its id is known, until it ends, asks a question, or must be resumed later.
 * - The state of a task is what a request for it returns; a stream only triggers that request (remote/a2a/remote.ts, R3).
 * - A question is a durable wait, named by its number in the call; its answer goes to the same task. The store keeps
 *   the number of answers that were received. If an answer may have been sent, an idempotent agent gets it again, as
 *   long as the task asks the same and does not list the answer. Any other agent gets it once: it is counted before
 *   it is sent, and if it was not received after all, people are asked again what the task still asks.
 * - A task that repeats its question right after an answer may not have processed the answer yet: it gets ANSWER_GRACE_MS.
 */

import { setTimeout as delay } from 'node:timers/promises';
import type { A2aAgentDefinition } from '../../core/author/a2a-agent.ts';
import type { ThreadState } from '../../core/author/thread-state.ts';
import type { ToolResult } from '../../core/message/message.ts';
import { errorMessage, isRuntimeError } from '../../core/value/error.ts';
import { measureJson } from '../../core/value/json-measure.ts';
import { LIMITS } from '../../core/value/limit.ts';
import {
  A2A_LIMITS,
  type A2aEndpoint,
  A2aFailure,
  isA2aFailure,
  isOpen,
  isPassing,
  type OutgoingPart,
  openRemote,
  type RemoteTask,
  readCard,
  TASK_NOT_FOUND,
  type Told,
  textOf,
  toAnswer,
  toTaskResult,
} from '../../remote/a2a/index.ts';
import type { A2aTaskRecord } from '../../store/a2a/a2a-record.ts';
import type { ThreadStore } from '../../store/store.ts';
import { retryWhileUnavailable } from '../guard/retry-while-unavailable.ts';
import type { Recall } from '../policy/ask.ts';
import {
  type A2aAttempt,
  type A2aOutcome,
  digest,
  fillA2aReach,
  findRemoteTask,
  idsOf,
  type LaterWork,
  type LostWork,
  laterOrThrow,
  type ReachedAttempt,
  toLaterWork,
} from './a2a-attempt.ts';

export interface A2aBody {
  readonly agent: A2aAgentDefinition;
  readonly state: ThreadState;
  readonly args: unknown;
  /** Returns earlier questions of this call. */
  readonly recall: Recall;
  readonly tasks: ThreadStore['a2a'];
  readonly storeId: string;
  readonly step: number;
  readonly index: number;
}

export async function runA2aCall(body: A2aBody): Promise<A2aOutcome> {
  try {
    return await runCall(body);
  } catch (error) {
    // A failure becomes a result.
    const code = isA2aFailure(error) || isRuntimeError(error) ? error.code : undefined;
    return {
      status: 'error',
      error: errorMessage(error),
      ...(code === undefined ? {} : { error_code: code }),
    };
  }
}

async function runCall({ tasks, step, index, storeId, ...body }: A2aBody): Promise<A2aOutcome> {
  const { agent, state, recall } = body;
  const { threadId } = state;
  const signal = state.execution?.abortSignal ?? new AbortController().signal;
  const kept = <T>(work: () => Promise<T>) => retryWhileUnavailable(signal, work);
  const reach = await fillA2aReach(agent, (name) => state.env(name));
  const key = { threadId, step, index };
  const attempt: A2aAttempt = {
    agent,
    reach,
    signal,
    state,
    recall,
    async note(news) {
      const noted = await kept(() => tasks.note({ ...key, ...news }));
      if (!noted) throw new A2aFailure('A2aUnavailable', 'The thread was removed.');
      return noted;
    },
  };
  const ids = idsOf({ storeId, ...key }, agent);
  const known = await kept(() => tasks.begin({ ...key, ...ids, agent: agent.name }));
  if (known.taskId !== null) return followTask(await openAttempt(attempt, known), known);
  const parts = await readParts(state, body.args);
  // S1: without an endpoint, nothing can have been sent.
  const isNew = known.endpoint === null;
  const found = isNew ? await findAgent(attempt) : known;
  if ('kind' in found) return found;
  const ready = await openAttempt(attempt, found);
  // S1: a stored endpoint means that the message may have been sent.
  const sent =
    isNew || agent.idempotent ? await sendMessage(ready, found, parts) : await recoverSent(ready, found);
  if (sent.kind === 'later' || sent.kind === 'lost') return sent;
  if (sent.kind === 'message') {
    await attempt.note({ over: true });
    return toAnswer([sent.said], reach, signal);
  }
  return followTask(ready, await attempt.note({ taskId: sent.task.id, reached: true }), sent.task);
}

async function openAttempt(attempt: A2aAttempt, { endpoint }: A2aTaskRecord): Promise<ReachedAttempt> {
  return { ...attempt, remote: await openRemote(endpoint as A2aEndpoint, attempt.reach) };
}

const MAX_TRIES = 4;
const FIRST_PAUSE_MS = 300;

async function findAgent(attempt: A2aAttempt): Promise<A2aTaskRecord | LaterWork> {
  try {
    // `reached` is not set: an agent that serves its card but refuses every message still counts as unreachable.
    return await attempt.note({ endpoint: await readCard(attempt.reach, attempt.signal) });
  } catch (error) {
    if (!isA2aFailure(error) || error.code !== 'A2aUnavailable') throw error;
    return laterOrThrow(attempt, error);
  }
}

async function sendMessage(
  attempt: ReachedAttempt,
  record: A2aTaskRecord,
  parts: readonly OutgoingPart[],
): Promise<Told | LaterWork> {
  const { agent, remote, signal } = attempt;
  const { messageId, contextId } = record;
  for (let tries = 1; ; tries++) {
    try {
      return await remote.send({ messageId, contextId, parts }, signal);
    } catch (error) {
      if (!isA2aFailure(error)) throw error;
      if (!isPassing(error)) {
        if (error.code === 'A2aRefused') await attempt.note({ over: true });
        throw error;
      }
      // S1: sending again is safe if the message was not received, or if the agent deduplicates messages.
      if (error.unsent || agent.idempotent) {
        // Not received: restores the state before sending.
        if (error.unsent && !agent.idempotent) await attempt.note({ endpoint: null });
        if (tries === MAX_TRIES || (error.unsent && !agent.idempotent)) return laterOrThrow(attempt, error);
        await delay(FIRST_PAUSE_MS * 2 ** tries, undefined, { signal });
        continue;
      }
      const found = await findRemoteTask(attempt, record).catch(ignoreFailure);
      if (found) return { kind: 'task', task: found };
      throw new A2aFailure(error.code, `${error.message} The agent may have received the message.`);
    }
  }
}

/** Searches for a message that a lost worker may have sent. */
async function recoverSent(
  attempt: ReachedAttempt,
  record: A2aTaskRecord,
): Promise<Told | LaterWork | LostWork> {
  try {
    const found = await findRemoteTask(attempt, record);
    return found ? { kind: 'task', task: found } : { kind: 'lost' };
  } catch (error) {
    if (!isA2aFailure(error)) throw error;
    if (!isPassing(error)) return { kind: 'lost' };
    return laterOrThrow(attempt, error).catch(() => ({ kind: 'lost' }) as const);
  }
}

function ignoreFailure(error: unknown): undefined {
  if (!isA2aFailure(error)) throw error;
}

async function readParts(state: ThreadState, args: unknown): Promise<OutgoingPart[]> {
  const { message, files = [] } = args as { readonly message: string; readonly files?: readonly string[] };
  const read = files.map(async (path): Promise<OutgoingPart> => {
    const [stat, data] = [await state.statFile(path), await state.readFile(path)];
    if (!stat || !data)
      throw new A2aFailure('A2aRefused', `The file ${path} does not exist: no message was sent.`);
    return { file: { name: stat.name, mimeType: stat.mimeType, bytes: new Uint8Array(data) } };
  });
  return [{ text: message }, ...(await Promise.all(read))];
}

const MAX_PAUSE_MS = 4000;
/** Milliseconds that a task may take to process an answer. */
const ANSWER_GRACE_MS = 5000;

async function followTask(
  attempt: ReachedAttempt,
  record: A2aTaskRecord,
  first?: RemoteTask,
): Promise<A2aOutcome> {
  try {
    const answered = await sendAnswers(attempt, record);
    return await follow(attempt, record, answered, first);
  } catch (error) {
    if (!isA2aFailure(error) || !isPassing(error)) throw error;
    return laterOrThrow(attempt, error);
  }
}

/** `rounds`: number of questions so far, all answered. `mark`: identifies the last one. */
interface AnsweredRounds {
  readonly rounds: number;
  readonly mark?: string | undefined;
}

async function follow(
  attempt: ReachedAttempt,
  record: A2aTaskRecord,
  { rounds, mark }: AnsweredRounds,
  first: RemoteTask | undefined,
): Promise<A2aOutcome> {
  const { agent, reach, signal, remote } = attempt;
  const place = toTaskRef(record);
  const sent = record.sentAt / 1000;
  const began = Date.now();
  const until = Math.min(began + LIMITS.remoteHoldMs, sent + agent.timeoutMs);
  let silent = record.silentSince !== null;
  for (let look = 0; ; look++) {
    const task = (look === 0 && rounds === 0 && first) || (await remote.get(place, signal));
    if (silent) await attempt.note({ reached: true });
    silent = false;
    if (task.state === 'auth-required')
      throw new A2aFailure('A2aAuthRequired', 'It requires credentials, which a message cannot provide.');
    if (task.state === 'input-required') {
      // The same question may mean that the answer is not processed yet.
      if (markOf(task) !== mark || Date.now() - began > ANSWER_GRACE_MS)
        return askQuestion(attempt, rounds, task);
    } else if (!isOpen(task.state)) {
      await attempt.note({ over: true });
      return toTaskResult(task, reach, signal);
    }
    const left = until - Date.now();
    if (Date.now() >= sent + agent.timeoutMs) return toTimeoutResult(agent.timeoutMs);
    if (left <= 0) return toLaterWork(sent, sent + agent.timeoutMs);
    const pause = Math.min(250 * 2 ** look, MAX_PAUSE_MS, left);
    if (remote.streams && isOpen(task.state)) await remote.listen(place, { signal, withinMs: left });
    // A pause even after a stream: a stream that ends immediately must not cause requests without a pause.
    await delay(remote.streams && look === 0 ? 50 : pause, undefined, { signal });
  }
}

/** The result of a task that took too long. The regular check cancels the task (cancel-a2a.ts). */
function toTimeoutResult(timeoutMs: number): ToolResult {
  const error = `Its task did not end within ${timeoutMs} ms and is cancelled.`;
  return { status: 'error', error, error_code: 'A2aTimeout' };
}

const toTaskRef = ({ contextId, taskId }: A2aTaskRecord) => ({ contextId, taskId: taskId as string });

/** A digest that identifies a question. */
function markOf({ messageId, said, state }: RemoteTask): string {
  return digest([state, messageId, said]);
}

const keyOf = (round: number) => `a2a:${round}`;

async function askQuestion(
  { state, agent }: ReachedAttempt,
  round: number,
  task: RemoteTask,
): Promise<never> {
  if (round >= A2A_LIMITS.rounds)
    throw new A2aFailure('A2aInvalid', `It asked more than ${A2A_LIMITS.rounds} times.`);
  const dataParts = task.said.flatMap((part) => (part.kind === 'data' ? [part.data] : []));
  const fits = measureJson(dataParts, { maxBytes: A2A_LIMITS.questionBytes, maxDepth: 32 }).whole;
  const text = textOf(task.said).trim().slice(0, A2A_LIMITS.questionChars);
  await state.ask({
    key: keyOf(round),
    question: text || `The agent ${agent.name} asks for input without saying what.`,
    data: {
      agent: agent.name,
      taskId: task.id,
      mark: markOf(task),
      ...(fits && dataParts.length > 0 && { told: dataParts }),
    },
  });
  throw new Error('A question that is open ends its attempt.');
}

interface RecalledQuestion {
  readonly mark?: string;
}

/** Sends the answers that the agent has not received. */
async function sendAnswers(attempt: ReachedAttempt, record: A2aTaskRecord): Promise<AnsweredRounds> {
  const { recall, state } = attempt;
  let { answers } = record;
  let mark: string | undefined;
  for (let round = 0; ; round++) {
    const asked = recall(keyOf(round)) as RecalledQuestion | undefined;
    if (asked === undefined) return { rounds: round, mark };
    mark = asked.mark;
    if (answers > round) continue;
    const { value } = await state.ask({ key: keyOf(round), question: 'asked before' });
    await answer(attempt, record, { round, mark, value });
    ({ answers } = await attempt.note({ answers: round + 1, reached: true }));
  }
}

interface Answer {
  readonly round: number;
  readonly mark: string | undefined;
  readonly value: unknown;
}

async function answer(
  attempt: ReachedAttempt,
  record: A2aTaskRecord,
  { round, mark, value }: Answer,
): Promise<void> {
  const { agent, remote, signal } = attempt;
  const place = toTaskRef(record);
  const messageId = `${record.messageId}-${round}`;
  const before = await remote.get(place, signal);
  // The agent has received the answer, or asks something else.
  if (before.heard.has(messageId) || before.state !== 'input-required' || markOf(before) !== mark) return;
  // Counted before it is sent, so it is sent only once.
  if (!agent.idempotent) await attempt.note({ answers: round + 1 });
  try {
    await remote.send({ ...place, messageId, parts: [toPart(value)] }, signal);
  } catch (error) {
    if (!isA2aFailure(error)) throw error;
    if (error.unsent && !agent.idempotent) await attempt.note({ unsent: round });
    // If the task has ended in the meantime, its outcome is the result.
    if (error.code !== 'A2aRefused' || error.number === TASK_NOT_FOUND) throw error;
  }
}

/**
 * Converts an answer: a text is sent as text, anything else as data, which agents of Everthread accept as an answer.
 */
function toPart(value: unknown): OutgoingPart {
  if (typeof value === 'string') return { text: value };
  return { data: typeof value === 'object' && value !== null ? value : { value } };
}
