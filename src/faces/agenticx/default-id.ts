/**
 * Ids of turns and tasks that were given none: derived from what they say and from what has ended before. So a process
 * takes up what a lost one has left open, and begins anew what has ended. What a living process of this machine reads is
 * another piece of work, even if it says the same.
 */
import { hash } from 'node:crypto';
import { nullIfThreadNotFound } from '../../client/make-thread.ts';
import type { RuntimeClient } from '../../client/runtime-client.ts';
import { isRuntimeError } from '../../core/value/error.ts';
import { isRead, type Reading, read, tryRead } from './reading.ts';
import { findPause } from './turn.ts';

export interface TurnReading extends Reading {
  /** Id of another turn of the session, which is paused. */
  readonly paused: string | undefined;
}

interface UnreadTurn {
  readonly id?: string | undefined;
  readonly session: string;
  readonly input: string;
}

/**
 * Without an id, a turn is the open one of its session if that says the same; else it has the id of its place, after the
 * last turn that has ended or is paused.
 */
export async function readTurn(
  client: RuntimeClient,
  { id, session, input }: UnreadTurn,
): Promise<TurnReading> {
  const pause = (await findPause(client, session))?.executionId ?? undefined;
  const of = (reading: Reading) => ({ ...reading, paused: reading.id === pause ? undefined : pause });
  if (id !== undefined) return of(read(id));
  const said = digest(session, input);
  const latest = await client.listExecutions({ threadId: session, limit: 2 });
  const open = latest.find(({ id: known, endedAt }) => endedAt === null && known.startsWith(`${said}.`));
  // Who has seen here that it is paused, and says the same without resuming it, means another turn.
  const taken = open && !SEEN_PAUSED.has(open.id) && tryRead(client.store, open.id);
  if (taken) return of(taken);
  let place = pause ?? latest.find(({ endedAt }) => endedAt !== null)?.id ?? '';
  for (;;) {
    place = `${said}.${digest(place)}`;
    const reading = tryRead(client.store, place);
    if (reading) return of(reading);
  }
}

/** Turns whose pause was the last event that a reader in this process has received. */
const SEEN_PAUSED = new Set<string>();

export function seePause(turn: string): void {
  SEEN_PAUSED.add(turn);
}

export interface TaskReading extends Reading {
  /** Tag of the thread of a task that was given no id: those that say the same have the same. */
  readonly tag?: string;
}

interface NamedTask {
  id: string | undefined;
  readonly prompt: string;
}

/** Number of tasks that say the same and are looked at: one of them may be open, and read by nobody. */
const MAX_ALIKE = 50;

/** Without an id, a task gets one: tasks of an agent that say the same are numbered, and the oldest open one is taken. */
export async function readTask(
  client: RuntimeClient,
  agent: { readonly name: string; readonly organizationId: string },
  task: NamedTask,
): Promise<TaskReading> {
  if (task.id !== undefined) return read(task.id);
  const tag = `same-${digest(agent.name, agent.organizationId, task.prompt)}`;
  const alike = await client.listThreads({ tag, limit: MAX_ALIKE });
  const numbers = alike.map(({ id }) => Number(id.slice(tag.length + 1))).sort((one, other) => one - other);
  const take = (number: number) => {
    const reading = tryRead(client.store, `${tag}.${number}`);
    task.id ??= reading?.id;
    return reading && { ...reading, tag };
  };
  for (const number of numbers) {
    const id = `${tag}.${number}`;
    const taken = !isRead(id) && !(await hasEnded(client, id)) && take(number);
    if (taken) return taken;
  }
  for (let number = (numbers.at(-1) ?? 0) + 1; ; number += 1) {
    const begun = take(number);
    if (begun) return begun;
  }
}

async function hasEnded(client: RuntimeClient, id: string): Promise<boolean> {
  try {
    return (await client.getExecution(id, id)).endedAt !== null;
  } catch (error) {
    // It was sent and has not begun.
    if (isRuntimeError(error, 'ExecutionNotFound')) return false;
    return nullIfThreadNotFound(error) ?? false;
  }
}

function digest(...parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts)).slice(0, 32);
}
