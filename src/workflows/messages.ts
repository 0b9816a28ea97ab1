/**
 * The words that a thread understands: signals, updates, the query. Clients import these definitions; the
 * names are part of the contract with the plain `temporal` CLI and the Web UI.
 */
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { CancelRequest } from '../core/governance/cancellation.ts';
import type { GivenContext } from '../core/governance/run-context.ts';
import type { TaskEnd } from '../core/task/control.ts';
import type { StoredError, ThreadStatus } from '../core/thread/step.ts';
import type { WaitAnswer } from '../core/wait/answer.ts';
import type { WaitKind, WaitVerdict } from '../core/wait/wait.ts';

/** `{ id?, role?, content, silent?, metadata?, attachments? }`; our client sends `{ id, stored: true }` for large content. */
export interface MessagePayload {
  readonly id?: string;
  readonly role?: 'user' | 'assistant';
  readonly content?: string;
  readonly silent?: boolean;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Paths of files of the thread. */
  readonly attachments?: readonly string[];
  /** How the execution that it begins or joins is to run. */
  readonly context?: GivenContext;
  readonly stored?: true;
  /** Of the execution that it begins: alone, from rest. The same id again attaches to that one. */
  readonly executionId?: string;
}

export interface ToolPayload {
  readonly id?: string;
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** No model is asked after it: where nothing else is to be answered, its execution ends with the call. */
  readonly unanswered?: boolean;
  /** As of a message. */
  readonly context?: GivenContext;
  /** As in a message. */
  readonly executionId?: string;
}

/** How long until the next effect is due, as the store has said. Only a hint of when to ask it; absent, it is asked at once. */
export interface WakeForEffectsPayload {
  readonly inMs?: number;
}

/** From the thread's family: something was put into its queue, a child has reported, or children are to be started. */
export interface WakePayload {
  /** The child whose report is there. */
  readonly reportOf?: string;
  /** The child that waits for people, or for a descendant that does, or does no more. Nothing is in the queue. */
  readonly waitOf?: string;
  /** Children of this thread wait to be started. */
  readonly boot?: boolean;
  /** What lies in the queue is said to the thread, as a person would: one that was stopped goes on. */
  readonly speaks?: boolean;
  /** With `speaks`: where nothing is in the queue, the thread goes on from its history. One that works goes on anyway. */
  readonly unprompted?: boolean;
  /** What a relative held of a budget is settled: a step that waits for it may be asked for again. Nothing is in the queue. */
  readonly settled?: boolean;
}

/** `{ id }`: the answer is in the store. With `answer`, it is stored first: as `parseWaitAnswer` reads it (core/wait/answer.ts). */
export interface AnswerWaitPayload {
  readonly id: string;
  readonly answer?: WaitAnswer;
  /** Of what was shown: an answer for something else is stale. */
  readonly fingerprint?: string;
}

/** What a thread is told of the end of a wait that no call of it waits for: a child is to be started, or something is in its queue. */
export function wakeAfter({
  kind,
  answer,
}: {
  readonly kind: WaitKind;
  readonly answer: WaitAnswer | null;
}): WakePayload | undefined {
  if (kind !== 'variables') return undefined;
  return answer && 'value' in answer ? { boot: true } : {};
}

/** What a call of the thread waits for. */
export interface OpenWaitView {
  readonly id: string;
  readonly kind: WaitKind;
  readonly name: string;
  /** The descendant that waits, and holds this thread up. */
  readonly threadId?: string;
}

export interface StatusView {
  readonly threadId: string;
  readonly agent: string;
  readonly status: ThreadStatus;
  /** Steps of the thread so far. */
  readonly step: number;
  /** Items that wait. */
  readonly queued: number;
  /** Nothing to do until somebody speaks. What is queued, if anything, waits for a user message, or after a limit for anything from outside. */
  readonly atRest: boolean;
  /** What the thread is doing now, in words. */
  readonly activity: string;
  /** Why the last execution ended; null while one lasts. */
  readonly stopReason: string | null;
  /** Who acts next, where the agent has two AI sides. */
  readonly side?: 'a' | 'b';
  readonly lastError: StoredError | null;
  /** What its calls wait for; absent where they wait for nothing. */
  readonly waits?: readonly OpenWaitView[];
}

/** What the query `status` of a task answers. */
export interface TaskStatusView {
  readonly taskId: string;
  /** Of agents/tasks. */
  readonly task: string;
  readonly status: 'running' | 'waiting' | TaskEnd;
  /** Steps that are over. */
  readonly step: number;
  /** What it is doing now, in words. */
  readonly activity: string;
  readonly waits?: readonly OpenWaitView[];
}

/** What an update `cancelExecution` answers: the execution, and the first request to cancel it. */
export interface CanceledView {
  readonly executionId: string;
  readonly reason: string | null;
  readonly by: string | null;
}

export const queueMessage = defineSignal<[MessagePayload]>('queueMessage');
export const queueTool = defineSignal<[ToolPayload]>('queueTool');
export const stop = defineSignal<[{ reason?: string }?]>('stop');
/** As an update, `cancelExecution`, it answers what is being cancelled, or refuses with a code. */
export const cancelExecution = defineSignal<[CancelRequest?]>('cancelExecution');
export const terminate = defineSignal<[{ reason?: string }?]>('terminate');
export const wakeForEffects = defineSignal<[WakeForEffectsPayload?]>('wakeForEffects');
export const wakeForMessages = defineSignal<[WakePayload?]>('wakeForMessages');
export const answerWait = defineSignal<[AnswerWaitPayload]>('answerWait');
/** Names of signals that a thread knows. */
export const SIGNAL_NAMES: readonly string[] = [
  queueMessage,
  queueTool,
  stop,
  terminate,
  wakeForEffects,
  wakeForMessages,
  answerWait,
  cancelExecution,
].map(({ name }) => name);
/** Under which the interceptor hands the SDK signals of several names, or of a name that a thread does not know. */
export const MIXED_SIGNALS = 'signals';
export const sendMessage = defineUpdate<{ id: string }, [MessagePayload]>('sendMessage');
/** As the signal, with an answer; gives the verdict. */
export const answerWaitUpdate = defineUpdate<
  WaitVerdict,
  [Required<Pick<AnswerWaitPayload, 'answer'>> & AnswerWaitPayload]
>(answerWait.name);
/** As the signal; gives the execution. */
export const cancelExecutionNow = defineUpdate<CanceledView, [CancelRequest]>(cancelExecution.name);
export const UPDATE_NAMES: readonly string[] = [sendMessage, answerWaitUpdate, cancelExecutionNow].map(
  ({ name }) => name,
);
export const status = defineQuery<StatusView>('status');
export const taskStatus = defineQuery<TaskStatusView>('status');
