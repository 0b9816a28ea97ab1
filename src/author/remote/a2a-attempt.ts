/**
 * Shared parts of a call of an agent elsewhere: the context of one attempt, its early end, its ids and headers.
 * - An unreachable agent is retried in further attempts, for the time that its author has set (`unreachableMs`).
 */
import { hash } from 'node:crypto';
import type { A2aAgentDefinition } from '../../core/author/a2a-agent.ts';
import type { ThreadState } from '../../core/author/thread-state.ts';
import type { ToolResult } from '../../core/message/message.ts';
import type { A2aFailure, A2aRemote, Reach, RemoteTask } from '../../remote/a2a/index.ts';
import type { A2aTaskRecord } from '../../store/a2a/a2a-record.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { Recall } from '../policy/ask.ts';
import { createTextFiller } from '../tool/fill-texts.ts';

/** The call must be resumed after a pause. */
export interface LaterWork {
  readonly kind: 'later';
  readonly pauseMs: number;
}

/** Whether the agent received the message is unknown, and stays unknown. */
export interface LostWork {
  readonly kind: 'lost';
}

export type A2aOutcome = ToolResult | LaterWork | LostWork;

/** One attempt at a call, with its context. */
export interface A2aAttempt {
  readonly agent: A2aAgentDefinition;
  readonly reach: Reach;
  readonly signal: AbortSignal;
  readonly state: ThreadState;
  readonly recall: Recall;
  /** Stores what has become known, and returns the updated record. */
  note(
    news: Omit<Parameters<ThreadStore['a2a']['note']>[0], 'threadId' | 'step' | 'index'>,
  ): Promise<A2aTaskRecord>;
}

/** An attempt whose agent has been found. */
export interface ReachedAttempt extends A2aAttempt {
  readonly remote: A2aRemote;
}

/** Returns a pause, or throws the failure if the agent has been unreachable for too long. */
export async function laterOrThrow(attempt: A2aAttempt, failure: A2aFailure): Promise<LaterWork> {
  const { silentSince, sentAt } = await attempt.note({ reached: false });
  const since = (silentSince ?? sentAt) / 1000;
  if (Date.now() - since > attempt.agent.unreachableMs) throw failure;
  return toLaterWork(since);
}

/** Returns a pause: a tenth of the time since `sinceMs`, from 1 second to 5 minutes, and not beyond `untilMs`. */
export function toLaterWork(sinceMs: number, untilMs = Number.POSITIVE_INFINITY): LaterWork {
  const now = Date.now();
  const pause = Math.min(Math.max((now - sinceMs) / 10, 1000), 5 * 60_000);
  return { kind: 'later', pauseMs: Math.round(Math.max(Math.min(pause, untilMs - now), 250)) };
}

/** Finds the task of the message; undefined if the agent does not list it. */
export async function findRemoteTask(
  { agent, remote, signal }: Pick<ReachedAttempt, 'agent' | 'remote' | 'signal'>,
  { contextId, messageId }: A2aTaskRecord,
): Promise<RemoteTask | undefined> {
  const found = await remote.find(contextId, signal);
  // Without `resumable` the context belongs to this call alone, so its only task is that of the message.
  return found.find(({ heard }) => heard.has(messageId)) ?? (agent.resumable ? undefined : found[0]);
}

/** Ids of a call, equal in every attempt. They include the store's id, since other stores may use the same agent. */
export function idsOf(
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
  return hash('sha256', JSON.stringify(value)).slice(0, 40);
}

/** Returns how the agent is reached, with the thread's variables filled into its headers. */
export async function fillA2aReach(
  agent: A2aAgentDefinition,
  read: (name: string) => Promise<string>,
): Promise<Reach> {
  const filling = await createTextFiller(Object.values(agent.headers), read);
  return { ...agent, headers: filling.all(agent.headers) };
}
