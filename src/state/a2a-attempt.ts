/**
 * What the parts of a call of an agent elsewhere share: one attempt with what it knows, how it ends early, its ids and headers.
 * A1. An agent that is away is waited for, attempt after attempt, for as long as its author has said.
 */
import { createHash } from 'node:crypto';
import type { A2aFailure, A2aRemote, Reach, RemoteTask } from '../a2a/index.ts';
import type { A2aAgentDefinition } from '../core/author/a2a-agent.ts';
import type { ThreadState } from '../core/author/thread-state.ts';
import type { ToolResult } from '../core/message/message.ts';
import type { A2aStore, A2aTaskRecord } from '../store/port/a2a.ts';
import type { Recall } from './ask.ts';
import { fillingOf } from './fill-texts.ts';

/** To be looked at again. */
export interface LaterWork {
  readonly kind: 'later';
  readonly pauseMs: number;
}

/** Whether it was received is unknown, and stays so. */
export interface LostWork {
  readonly kind: 'lost';
}

export type A2aOutcome = ToolResult | LaterWork | LostWork;

/** One attempt, with what it knows. */
export interface A2aAttempt {
  readonly agent: A2aAgentDefinition;
  readonly reach: Reach;
  readonly signal: AbortSignal;
  readonly state: ThreadState;
  readonly recall: Recall;
  /** Keeps what has become known. */
  note(news: Omit<Parameters<A2aStore['note']>[0], 'threadId' | 'step' | 'index'>): Promise<A2aTaskRecord>;
}

/** One whose agent was found. */
export interface ReachedAttempt extends A2aAttempt {
  readonly remote: A2aRemote;
}

/** A1: throws the failure where the agent has been out of reach for too long. */
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
  { agent, remote, signal }: Pick<ReachedAttempt, 'agent' | 'remote' | 'signal'>,
  { contextId, messageId }: A2aTaskRecord,
): Promise<RemoteTask | undefined> {
  const found = await remote.find(contextId, signal);
  // A context of the call's own has no other task.
  return found.find(({ heard }) => heard.has(messageId)) ?? (agent.resumable ? undefined : found[0]);
}

/** The same for the same call; of a store of its own, since others may send to the same agent. */
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
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 40);
}

/** Its headers with the values of the thread. */
export async function fillA2aReach(
  agent: A2aAgentDefinition,
  read: (name: string) => Promise<string>,
): Promise<Reach> {
  const filling = await fillingOf(Object.values(agent.headers), read);
  return { ...agent, headers: filling.all(agent.headers) };
}
