/**
 * Ids of turns and tasks that were given none: derived from what they say and from what has ended before. So a process
 * takes up what another one has left open, and begins anew what has ended. While it reads a piece of work, another one
 * that says the same is a new one.
 */
import { hash } from 'node:crypto';
import { nullIfThreadNotFound } from '../../client/make-thread.ts';
import type { RuntimeClient } from '../../client/runtime-client.ts';
import { isRuntimeError } from '../../core/value/error.ts';
import { findPause } from './turn.ts';

/** A turn or a task that this process reads, until it is closed. */
export interface Reading {
  readonly id: string;
  /** Tag of the thread of a task that was given no id: those that say the same have the same. */
  readonly tag?: string;
  /** Id of another turn, which is paused. */
  readonly paused?: string | undefined;
  close(): void;
}

/** Number of readings by id. */
const READ = new Map<string, number>();

function read(id: string): Reading {
  READ.set(id, (READ.get(id) ?? 0) + 1);
  const close = () => {
    const left = (READ.get(id) ?? 1) - 1;
    if (left > 0) READ.set(id, left);
    else READ.delete(id);
  };
  return { id, close };
}

/** Without an id, a turn has that of its place: after the last turn of its session that has ended, or is paused. */
export async function readTurn(
  client: RuntimeClient,
  {
    id,
    session,
    input,
  }: { readonly id?: string | undefined; readonly session: string; readonly input: string },
): Promise<Reading> {
  const pause = (await findPause(client, session))?.executionId ?? undefined;
  if (id !== undefined) return { ...read(id), paused: pause === id ? undefined : pause };
  const latest = await client.listExecutions({ threadId: session, limit: 2 });
  const ended = latest.find(({ endedAt }) => endedAt !== null)?.id ?? '';
  const after = (place: string) => digest(session, input, place);
  const paused = pause === after(ended) ? undefined : pause;
  let own = after(paused ?? ended);
  while (READ.has(own)) own = after(own);
  return { ...read(own), paused };
}

interface NamedTask {
  id: string | undefined;
  readonly prompt: string;
}

/** Without an id, a task gets one: tasks of an agent that say the same are numbered. */
export async function readTask(
  client: RuntimeClient,
  agent: { readonly name: string; readonly organizationId: string },
  task: NamedTask,
): Promise<Reading> {
  if (task.id !== undefined) return read(task.id);
  const tag = `same-${digest(agent.name, agent.organizationId, task.prompt)}`;
  const [newest] = await client.listThreads({ tag, limit: 1 });
  let number = newest === undefined ? 1 : Number(newest.id.slice(tag.length + 1));
  if (newest && (await hasEnded(client, newest.id))) number += 1;
  while (READ.has(`${tag}.${number}`)) number += 1;
  task.id ??= `${tag}.${number}`;
  return { tag, ...read(task.id) };
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
