/**
 * The body of a call of an agent elsewhere (docs/a2a.md): it sends one message, follows the task, and returns its
 * answer as the result of a tool. Each attempt continues from what the previous one has stored.
 * S1. The endpoint is stored before the message is sent. If an attempt finds an endpoint but no task, it is unknown
 *     whether the message was received: it is sent again if the agent deduplicates messages by id. Otherwise the task
 *     is searched for, and the call is lost if it is not found.
 * S2. Whatever an agent does becomes a result with a code. A task that may still run then is cancelled by a regular
 *     check (cancel-a2a.ts), even if this process or the call is gone.
 * S3. Nothing is held open for long: an attempt ends after a while, and the call is resumed later.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { A2aAgentDefinition } from '../../core/author/a2a-agent.ts';
import type { ThreadState } from '../../core/author/thread-state.ts';
import { errorMessage, isRuntimeError } from '../../core/value/error.ts';
import {
  type A2aEndpoint,
  A2aFailure,
  isA2aFailure,
  isPassing,
  type OutgoingPart,
  openRemote,
  readCard,
  type Told,
  toAnswer,
} from '../../remote/a2a/index.ts';
import type { A2aTaskRecord } from '../../store/a2a/a2a-record.ts';
import type { ThreadStore } from '../../store/store.ts';
import { retryWhileUnavailable } from '../guard/retry-while-unavailable.ts';
import type { Recall } from '../policy/ask.ts';
import {
  type A2aAttempt,
  type A2aOutcome,
  fillA2aReach,
  findRemoteTask,
  idsOf,
  type LaterWork,
  type LostWork,
  laterOrThrow,
  type ReachedAttempt,
} from './a2a-attempt.ts';
import { followTask } from './a2a-follow.ts';

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
    // S2: a failure becomes a result.
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
    ...{ agent, reach, signal, state, recall },
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
