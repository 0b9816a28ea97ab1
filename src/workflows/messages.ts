/**
 * The words that a thread understands: signals, the update, the query. Clients import these definitions; the
 * names are part of the contract with the plain `temporal` CLI and the Web UI.
 */
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { StoredError, ThreadStatus } from '../core/step.ts';

/** `{ id?, role?, content, silent?, metadata? }`; our client sends `{ id, stored: true }` for large content. */
export interface MessagePayload {
  readonly id?: string;
  readonly role?: 'user' | 'assistant';
  readonly content?: string;
  readonly silent?: boolean;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly stored?: true;
}

export interface ToolPayload {
  readonly id?: string;
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
}

export interface StatusView {
  readonly threadId: string;
  readonly agent: string;
  readonly status: ThreadStatus;
  /** Steps of the thread so far. */
  readonly step: number;
  /** Items that wait. */
  readonly queued: number;
  /** What the thread is doing now, in words. */
  readonly activity: string;
  readonly lastError: StoredError | null;
}

export const queueMessage = defineSignal<[MessagePayload]>('queueMessage');
export const queueTool = defineSignal<[ToolPayload]>('queueTool');
export const stop = defineSignal<[{ reason?: string }?]>('stop');
export const terminate = defineSignal<[{ reason?: string }?]>('terminate');
export const sendMessage = defineUpdate<{ id: string }, [MessagePayload]>('sendMessage');
export const status = defineQuery<StatusView>('status');
