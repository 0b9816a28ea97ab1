/**
 * The body of a call of an agent elsewhere (docs/a2a.md): one message, a task that is followed, and its answer as the result of a tool. Any attempt
 * goes on with what the one before has left in the store.
 * S1. That the message is about to be sent is kept before it is sent. Whoever finds that, and no task, does not know whether it was received: it is sent
 *     again where its agent takes a message once, by its id; else it is looked for, and the call is lost where it is not found.
 * S2. Whatever an agent does is a result with a code. A task that may go on then is cancelled by whoever looks for what nobody wants
 *     (cancel-a2a.ts): also where this process, or the call, is gone.
 * S3. Nothing is held open for long: an attempt that has looked for a while ends, and the call is looked at again later.
 */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type A2aEndpoint,
  A2aFailure,
  type A2aRemote,
  isA2aFailure,
  isPassing,
  type OutgoingPart,
  openRemote,
  type Reach,
  type RemoteTask,
  readCard,
  type Told,
  toAnswer,
} from '../a2a/index.ts';
import type { A2aAgentDefinition } from '../core/author/a2a-agent.ts';
import { fillVariables, variablesIn } from '../core/author/mcp-server.ts';
import type { ThreadState } from '../core/author/thread-state.ts';
import type { ToolResult } from '../core/message/message.ts';
import { errorMessage, isRuntimeError } from '../core/value/error.ts';
import type { A2aStore, A2aTaskRecord } from '../store/port/a2a.ts';
import { followTask } from './a2a-follow.ts';
import type { Recall } from './ask.ts';
import { retryWhileUnavailable } from './retry-while-unavailable.ts';

export interface A2aBody {
  readonly agent: A2aAgentDefinition;
  readonly state: ThreadState;
  readonly args: unknown;
  /** What was asked in this call before. */
  readonly recall: Recall;
  readonly tasks: A2aStore;
  readonly storeId: string;
  readonly step: number;
  readonly index: number;
}

/** S3. To be looked at again. */
export interface LaterWork {
  readonly kind: 'later';
  readonly pauseMs: number;
}

/** S1: whether it was received is unknown, and stays so. */
export interface LostWork {
  readonly kind: 'lost';
}

export type A2aOutcome = ToolResult | LaterWork | LostWork;

/** One attempt, with what it knows. */
export interface A2aAttempt {
  readonly agent: A2aAgentDefinition;
  readonly reach: Reach;
  readonly remote: A2aRemote;
  readonly signal: AbortSignal;
  readonly state: ThreadState;
  readonly recall: Recall;
  /** Keeps what has become known. */
  note(news: Omit<Parameters<A2aStore['note']>[0], 'threadId' | 'step' | 'index'>): Promise<A2aTaskRecord>;
}

export async function runA2aCall(body: A2aBody): Promise<A2aOutcome> {
  try {
    return await run(body);
  } catch (error) {
    // S2: a result.
    const code = isA2aFailure(error) || isRuntimeError(error) ? error.code : undefined;
    return {
      status: 'error',
      error: errorMessage(error),
      ...(code === undefined ? {} : { error_code: code }),
    };
  }
}

async function run({ tasks, step, index, storeId, ...body }: A2aBody): Promise<A2aOutcome> {
  const { agent, state, recall } = body;
  const { threadId } = state;
  const signal = state.execution?.abortSignal ?? new AbortController().signal;
  const kept = <T>(work: () => Promise<T>) => retryWhileUnavailable(signal, work);
  const reach = await fillA2aReach(agent, (name) => state.env(name));
  const key = { threadId, step, index };
  const known = await kept(() => tasks.get(key));
  const parts = known?.taskId ? [] : await readParts(state, body.args);
  const endpoint = known ? (known.endpoint as A2aEndpoint) : await findAgent(reach, signal);
  const ids = idsOf({ storeId, ...key }, agent);
  const begun = known
    ? { record: known, isNew: false }
    : await kept(() => tasks.begin({ ...key, ...ids, agent: agent.name, endpoint }));
  const attempt: A2aAttempt = {
    ...{ agent, reach, signal, state, recall },
    remote: await openRemote(endpoint, reach),
    async note(news) {
      const noted = await kept(() => tasks.note({ ...key, ...news }));
      if (!noted) throw new A2aFailure('A2aUnavailable', 'The thread was removed.');
      return noted;
    },
  };
  const { record } = begun;
  if (record.taskId !== null) return followTask(attempt, record);
  // S1: received, or not.
  const sent =
    begun.isNew || agent.idempotent ? await send(attempt, record, parts) : await recover(attempt, record);
  if (sent.kind === 'later' || sent.kind === 'lost') return sent;
  if (sent.kind === 'message') {
    await attempt.note({ over: true });
    return toAnswer([sent.said], reach, signal);
  }
  return followTask(attempt, await attempt.note({ taskId: sent.task.id, reached: true }), sent.task);
}

const TRIES = 4;
const FIRST_PAUSE_MS = 300;

async function findAgent(reach: Reach, signal: AbortSignal): Promise<A2aEndpoint> {
  for (let tries = 1; ; tries++) {
    try {
      return await readCard(reach, signal);
    } catch (error) {
      if (!isA2aFailure(error) || error.code !== 'A2aUnavailable' || tries === TRIES) throw error;
      await delay(FIRST_PAUSE_MS * 2 ** tries, undefined, { signal });
    }
  }
}

async function send(
  attempt: A2aAttempt,
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
      // S1: another time does no harm, where it was not received or is taken once.
      if ((error.unsent || agent.idempotent) && tries < TRIES)
        await delay(FIRST_PAUSE_MS * 2 ** tries, undefined, { signal });
      else if (agent.idempotent) return laterOr(attempt, error);
      else if (error.unsent) {
        await attempt.note({ over: true });
        throw error;
      } else {
        const found = await lookFor(attempt, record).catch(ignoreFailure);
        if (found) return { kind: 'task', task: found };
        throw new A2aFailure(error.code, `${error.message} It may have taken the message all the same.`);
      }
    }
  }
}

/** Of one whose receipt is unknown, since the worker that sent it was lost. */
async function recover(attempt: A2aAttempt, record: A2aTaskRecord): Promise<Told | LaterWork | LostWork> {
  try {
    const found = await lookFor(attempt, record);
    return found ? { kind: 'task', task: found } : { kind: 'lost' };
  } catch (error) {
    if (!isA2aFailure(error)) throw error;
    if (!isPassing(error)) return { kind: 'lost' };
    return laterOr(attempt, error).catch(() => ({ kind: 'lost' }) as const);
  }
}

/** S3. Throws the failure where the agent has been out of reach for too long. */
export async function laterOr(attempt: A2aAttempt, failure: A2aFailure): Promise<LaterWork> {
  const { silentSince, sentAt } = await attempt.note({ reached: false });
  const since = (silentSince ?? sentAt) / 1000;
  if (Date.now() - since > attempt.agent.unreachableMs) throw failure;
  return later(since);
}

/** The longer it takes already, the longer until the next look. */
export function later(sinceMs: number, untilMs = Number.POSITIVE_INFINITY): LaterWork {
  const now = Date.now();
  const pause = Math.min(Math.max((now - sinceMs) / 10, 1000), 5 * 60_000);
  return { kind: 'later', pauseMs: Math.round(Math.max(Math.min(pause, untilMs - now), 250)) };
}

/** The task of the message, where its agent lists it. */
export async function lookFor(
  { agent, remote, signal }: Pick<A2aAttempt, 'agent' | 'remote' | 'signal'>,
  { contextId, messageId }: A2aTaskRecord,
): Promise<RemoteTask | undefined> {
  const found = await remote.find(contextId, signal);
  // A context of the call's own has no other task.
  return found.find(({ heard }) => heard.has(messageId)) ?? (agent.resumable ? undefined : found[0]);
}

function ignoreFailure(error: unknown): undefined {
  if (!isA2aFailure(error)) throw error;
}

/** The same for the same call; of a store of its own, since others may send to the same agent. */
function idsOf(
  {
    storeId,
    threadId,
    step,
    index,
  }: Readonly<Record<'storeId' | 'threadId', string>> & {
    readonly step: number;
    readonly index: number;
  },
  { name, resumable }: A2aAgentDefinition,
) {
  const place = [storeId, threadId, name];
  const call = [...place, step, index];
  return { contextId: `et-${digest(resumable ? place : call)}`, messageId: `et-m-${digest(call)}` };
}

export function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 40);
}

/** Its headers with the values of the thread; a variable without a value is empty, unless it is required. */
export async function fillA2aReach(
  agent: A2aAgentDefinition,
  read: (name: string) => Promise<string>,
): Promise<Reach> {
  const values = new Map<string, string>();
  for (const name of new Set(Object.values(agent.headers).flatMap(variablesIn)))
    values.set(name, await read(name).catch(() => ''));
  const headers = Object.entries(agent.headers).map(([name, text]) => [name, fillVariables(text, values)]);
  return { ...agent, headers: Object.fromEntries(headers) };
}

async function readParts(state: ThreadState, args: unknown): Promise<OutgoingPart[]> {
  const { message, files = [] } = args as { readonly message: string; readonly files?: readonly string[] };
  const read = files.map(async (path): Promise<OutgoingPart> => {
    const [stat, data] = [await state.statFile(path), await state.readFile(path)];
    if (!stat || !data)
      throw new A2aFailure('A2aRefused', `There is no file ${path} to be sent; nothing was.`);
    return { file: { name: stat.name, mimeType: stat.mimeType, bytes: new Uint8Array(data) } };
  });
  return [{ text: message }, ...(await Promise.all(read))];
}
