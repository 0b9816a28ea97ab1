/**
 * A task of an agent elsewhere, from the moment that its id is known: looked at until it has ended, asks something, or is to be looked at later.
 * L1. What it is, is what it answers when it is asked for; a stream only says when to ask (a2a/remote.ts, R2).
 * L2. A question is a durable wait, named by its number in the call; its answer goes to the same task. Whether that was heard is kept. Where it may have been
 *     sent, it is sent again to an agent that takes a message once, while the task asks the same and does not tell to have heard it. Any other is sent it once:
 *     that it is about to be sent is kept before, and where it was not heard after all, what the task still asks is asked of people anew.
 * L3. One that asks the same right after it has heard an answer may not have taken it up yet: it is given a moment.
 */
import { setTimeout as delay } from 'node:timers/promises';
import {
  A2A_LIMITS,
  A2aFailure,
  isA2aFailure,
  isOpen,
  isPassing,
  type OutgoingPart,
  type RemoteTask,
  TASK_NOT_FOUND,
  textOf,
  toTaskResult,
} from '../a2a/index.ts';
import type { ToolResult } from '../core/message/message.ts';
import { measureJson } from '../core/value/json-measure.ts';
import { LIMITS } from '../core/value/limit.ts';
import type { A2aTaskRecord } from '../store/port/a2a.ts';
import { type A2aOutcome, digest, later, laterOr, type ReachedAttempt } from './a2a-attempt.ts';

const LONGEST_PAUSE_MS = 4000;
/** L3: until it may have taken it up. */
const MOMENT_MS = 5000;

export async function followTask(
  attempt: ReachedAttempt,
  record: A2aTaskRecord,
  first?: RemoteTask,
): Promise<A2aOutcome> {
  try {
    const heard = await sendAnswers(attempt, record);
    return await follow(attempt, record, heard, first);
  } catch (error) {
    if (!isA2aFailure(error) || !isPassing(error)) throw error;
    return laterOr(attempt, error);
  }
}

/** What was asked last, and how many answers it has heard. */
interface Heard {
  readonly rounds: number;
  readonly mark?: string | undefined;
}

async function follow(
  attempt: ReachedAttempt,
  record: A2aTaskRecord,
  { rounds, mark }: Heard,
  first: RemoteTask | undefined,
): Promise<A2aOutcome> {
  const { agent, reach, signal, remote } = attempt;
  const place = placeOf(record);
  const sent = record.sentAt / 1000;
  const began = Date.now();
  const until = Math.min(began + LIMITS.remoteHoldMs, sent + agent.timeoutMs);
  let silent = record.silentSince !== null;
  for (let look = 0; ; look++) {
    // L1: as it says itself.
    const task = (look === 0 && rounds === 0 && first) || (await remote.get(place, signal));
    if (silent) await attempt.note({ reached: true });
    silent = false;
    if (task.state === 'auth-required')
      throw new A2aFailure('A2aAuthRequired', 'It wants credentials, which a message never gives.');
    if (task.state === 'input-required') {
      // L3: not taken up yet.
      if (markOf(task) !== mark || Date.now() - began > MOMENT_MS) return ask(attempt, rounds, task);
    } else if (!isOpen(task.state)) {
      await attempt.note({ over: true });
      return toTaskResult(task, reach, signal);
    }
    const left = until - Date.now();
    if (Date.now() >= sent + agent.timeoutMs) return tooLate(agent.timeoutMs);
    if (left <= 0) return later(sent, sent + agent.timeoutMs);
    const pause = Math.min(250 * 2 ** look, LONGEST_PAUSE_MS, left);
    if (remote.streams && isOpen(task.state)) await remote.listen(place, { signal, withinMs: left });
    // Also behind a stream: one that is over at once is no reason to ask without a pause.
    await delay(remote.streams && look === 0 ? 50 : pause, undefined, { signal });
  }
}

/** It is cancelled by whoever looks for what nobody wants. */
function tooLate(timeoutMs: number): ToolResult {
  const error = `Its task did not end within ${timeoutMs} ms; it is cancelled.`;
  return { status: 'error', error, error_code: 'A2aTimeout' };
}

const placeOf = ({ contextId, taskId }: A2aTaskRecord) => ({ contextId, taskId: taskId as string });

/** L2: the same for the same question. */
function markOf({ messageId, said, state }: RemoteTask): string {
  return digest([state, messageId, said]);
}

const keyOf = (round: number) => `a2a:${round}`;

async function ask({ state, agent }: ReachedAttempt, round: number, task: RemoteTask): Promise<never> {
  if (round >= A2A_LIMITS.rounds)
    throw new A2aFailure('A2aInvalid', `It asked more than ${A2A_LIMITS.rounds} times.`);
  const told = task.said.flatMap((part) => (part.kind === 'data' ? [part.data] : []));
  const fits = measureJson(told, { maxBytes: A2A_LIMITS.questionBytes, maxDepth: 32 }).whole;
  const text = textOf(task.said).trim().slice(0, A2A_LIMITS.questionChars);
  await state.ask({
    key: keyOf(round),
    question: text || `The agent ${agent.name} asks for something, and tells no more.`,
    data: {
      agent: agent.name,
      taskId: task.id,
      mark: markOf(task),
      ...(fits && told.length > 0 && { told }),
    },
  });
  throw new Error('A question that is open ends its attempt.');
}

interface Asked {
  readonly mark?: string;
}

/** L2: those that it has not heard. */
async function sendAnswers(attempt: ReachedAttempt, record: A2aTaskRecord): Promise<Heard> {
  const { recall, state } = attempt;
  let { answers } = record;
  let mark: string | undefined;
  for (let round = 0; ; round++) {
    const asked = recall(keyOf(round)) as Asked | undefined;
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
  const place = placeOf(record);
  const messageId = `${record.messageId}-${round}`;
  const before = await remote.get(place, signal);
  // L2: it has heard it, or asks something else.
  if (before.heard.has(messageId) || before.state !== 'input-required' || markOf(before) !== mark) return;
  // L2: once.
  if (!agent.idempotent) await attempt.note({ answers: round + 1 });
  try {
    await remote.send({ ...place, messageId, parts: [toPart(value)] }, signal);
  } catch (error) {
    if (!isA2aFailure(error)) throw error;
    if (error.unsent && !agent.idempotent) await attempt.note({ unsent: round });
    // It has ended meanwhile: what it came to is its result.
    if (error.code !== 'A2aRefused' || error.number === TASK_NOT_FOUND) throw error;
  }
}

/** Words are words; what an agent takes as data, as Everthread's do for an answer, is sent as data. */
function toPart(value: unknown): OutgoingPart {
  if (typeof value === 'string') return { text: value };
  return { data: typeof value === 'object' && value !== null ? value : { value } };
}
