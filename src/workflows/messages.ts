/**
 * The signals, updates and queries of threads and tasks. Clients import these definitions; the names are part of the
 * contract with the plain `temporal` CLI and the Web UI.
 */
import type { QueryDefinition, SignalDefinition, UpdateDefinition } from '@temporalio/common';
import type { CancelRequest } from '../core/governance/cancellation.ts';
import type { GivenContext } from '../core/governance/run-context.ts';
import type { MessageFields } from '../core/message/message-fields.ts';
import type { TaskEnd } from '../core/task/control.ts';
import type { MessageItem } from '../core/thread/item.ts';
import type { StoredError, ThreadStatus } from '../core/thread/step.ts';
import type { WaitAnswer } from '../core/wait/answer.ts';
import type { WaitKind, WaitVerdict } from '../core/wait/wait.ts';

/**
 * A message as its sender signals it: `{ id?, role?, content, silent?, metadata?, attachments?, context?, executionId? }`;
 * attachments are paths of files of the thread. Our client stores the message first and sends `{ id, role, stored: true }`.
 */
export interface SignalledMessage
  extends MessageFields,
    Partial<Pick<MessageItem, 'id' | 'context' | 'executionId'>> {
  readonly role?: 'user' | 'assistant';
  readonly attachments?: readonly string[];
  readonly stored?: true;
}

export interface ToolPayload {
  readonly id?: string;
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** No model is asked after the call: if nothing else has to be answered, its execution ends with the call. */
  readonly unanswered?: boolean;
  /** The run context of the execution that the call begins or joins. */
  readonly context?: GivenContext;
  /** Id for the execution that the call begins, alone and from rest. The same id again attaches to that one. */
  readonly executionId?: string;
}

/** `inMs`: milliseconds until the next effect is due. A hint when to ask the store; if absent, it is asked at once. */
export interface WakeForEffectsPayload {
  readonly inMs?: number;
}

/** A signal of the thread's family: something is in its queue, a child has reported, or children must be started. */
export interface WakePayload {
  /** The child whose report is in the store. */
  readonly reportOf?: string;
  /** The child whose waits, or those of its descendants, have begun or ended. Nothing is in the queue. */
  readonly waitOf?: string;
  /** Children of this thread must be started. */
  readonly boot?: boolean;
  /** What is in the queue counts like a message of a person: a stopped thread goes on. */
  readonly speaks?: boolean;
  /** With `speaks`: if the queue is empty, an idle thread goes on from its history. A running one goes on anyway. */
  readonly unprompted?: boolean;
  /** A relative has settled a budget reservation; a step that waits for it asks again. Nothing is in the queue. */
  readonly settled?: boolean;
}

/** `{ id }` announces a stored answer. With `answer`, that is stored first: `parseWaitAnswer` (core/wait/answer.ts). */
export interface AnswerWaitPayload {
  readonly id: string;
  readonly answer?: WaitAnswer;
  /** Fingerprint of what was shown to the person; the answer is stale if it differs from the wait's. */
  readonly fingerprint?: string;
}

/**
 * Payload of the signal `wakeForMessages` to send after the end of a wait that no call of the thread waits for: a child
 * must be started, or something is in its queue. Undefined for other kinds of waits.
 */
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

/** A wait of a call of the thread, or of a descendant. */
export interface OpenWaitView {
  readonly id: string;
  readonly kind: WaitKind;
  readonly name: string;
  /** The descendant whose wait blocks this thread; absent for the thread's own wait. */
  readonly threadId?: string;
}

export interface StatusView {
  readonly threadId: string;
  readonly agent: string;
  readonly status: ThreadStatus;
  /** Steps of the thread so far. */
  readonly step: number;
  /** Number of queued items. */
  readonly queued: number;
  /**
   * True if the thread has nothing to do. Queued items, if any, wait for a user message, or after a limit for anything
   * from outside.
   */
  readonly atRest: boolean;
  /**
   * What the thread is doing now, as text. While one activity makes many steps, the details of its heartbeat say which
   * one: `pendingActivities` of the workflow, or its page in the Web UI.
   */
  readonly activity: string;
  /** Why the last execution ended; null while one is running. */
  readonly stopReason: string | null;
  /** The side that acts next, if the agent has two AI sides. */
  readonly side?: 'a' | 'b';
  readonly lastError: StoredError | null;
  /** The waits of its calls; absent if there are none. */
  readonly waits?: readonly OpenWaitView[];
}

/** The result of the query `status` of a task. */
export interface TaskStatusView {
  readonly taskId: string;
  /** Name of the task's definition in agents/tasks. */
  readonly task: string;
  readonly status: 'running' | 'waiting' | TaskEnd;
  /** The current step, counted from 0: the number of steps that are over. */
  readonly step: number;
  /** What the task is doing now, as text. */
  readonly activity: string;
  readonly waits?: readonly OpenWaitView[];
}

/** The result of the update `cancelExecution`: the execution, and the first request to cancel it. */
export interface CanceledView {
  readonly executionId: string;
  readonly reason: string | null;
  readonly by: string | null;
}

/*
 * Definitions as the SDK's own functions return them: those are in its workflow runtime, of 70 files, which clients and
 * all who import the package for its definitions would load for these names.
 */
const defineSignal = <Args extends unknown[]>(name: string) =>
  ({ type: 'signal', name }) as SignalDefinition<Args>;
const defineUpdate = <Result, Args extends unknown[]>(name: string) =>
  ({ type: 'update', name }) as UpdateDefinition<Result, Args>;
const defineQuery = <Result>(name: string) => ({ type: 'query', name }) as QueryDefinition<Result>;

export const queueMessage = defineSignal<[SignalledMessage]>('queueMessage');
export const queueTool = defineSignal<[ToolPayload]>('queueTool');
/** `stored`: the id under which our client has stored the reason. */
export interface EndPayload {
  readonly reason?: string;
  readonly stored?: string;
}

export const stop = defineSignal<[EndPayload?]>('stop');
/** Also an update (`cancelExecutionNow`), which returns what is being cancelled, or is refused with a code. */
export const cancelExecution = defineSignal<[CancelRequest?]>('cancelExecution');
export const terminate = defineSignal<[EndPayload?]>('terminate');
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
/** The signal name under which the interceptor passes signals of several names, or of unknown names, to the SDK. */
export const MIXED_SIGNALS = 'signals';
export const sendMessage = defineUpdate<{ id: string }, [SignalledMessage]>('sendMessage');
/** Like the signal `answerWait`, but the answer is required; returns the verdict. */
export const answerWaitUpdate = defineUpdate<
  WaitVerdict,
  [Required<Pick<AnswerWaitPayload, 'answer'>> & AnswerWaitPayload]
>(answerWait.name);
/** Like the signal `cancelExecution`; returns the execution. */
export const cancelExecutionNow = defineUpdate<CanceledView, [CancelRequest]>(cancelExecution.name);
export const UPDATE_NAMES: readonly string[] = [sendMessage, answerWaitUpdate, cancelExecutionNow].map(
  ({ name }) => name,
);
export const status = defineQuery<StatusView>('status');
export const taskStatus = defineQuery<TaskStatusView>('status');

/** The workflow of a thread. Its input arrives undecoded (interceptors.ts); clients send a start input. */
export type ThreadWorkflow = (input: unknown) => Promise<{ outcome: 'terminated' }>;
