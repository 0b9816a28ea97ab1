/**
 * Finds a thread between its acceptance and its opening: the server has its workflow, but no store has its row yet. The
 * record is read off the beginning of the workflow's history, so it is found however the thread was started. None of
 * this is read if the store has the thread.
 */
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import {
  isThreadId,
  parseStartInput,
  type StartInput,
  WORKFLOW_ID_PREFIX,
} from '../core/thread/start-input.ts';
import type { ThreadRecord } from '../store/thread/thread-record.ts';
import type { OpenConnection } from './connect.ts';
import { isWorkflowGone, toRuntimeError } from './workflow-error.ts';

/** Number of history events that are read: those that start the workflow and those of its first worker. */
const MAX_HISTORY_EVENTS = 20;

/**
 * Null if no such workflow runs, if a worker has opened the thread, or if its start input is invalid. Throws
 * `TemporalUnavailable`.
 */
export async function findAcceptedThread(
  { temporal, store }: Pick<OpenConnection, 'temporal' | 'store'>,
  threadId: string,
): Promise<ThreadRecord | null> {
  if (!isThreadId(threadId)) return null;
  const workflowId = WORKFLOW_ID_PREFIX + threadId;
  try {
    const described = await temporal.workflow.getHandle(workflowId).describe();
    if (described.status.name !== 'RUNNING') return null;
    const begin = await readWorkflowStart(temporal, workflowId, described.runId);
    if (!begin) return null;
    const { stored } = begin.input;
    const content = stored ? await store.sent.read(threadId, stored) : null;
    return toRecord({ ...begin, input: { ...begin.input, ...content } }, described);
  } catch (error) {
    if (isWorkflowGone(error)) return null;
    throw toRuntimeError(error);
  }
}

interface WorkflowStart {
  readonly input: StartInput;
  /** True if the workflow has received a signal. */
  readonly signalled: boolean;
}

/** Null if the run's first activity has completed: that activity has opened the thread. */
async function readWorkflowStart(
  temporal: Client,
  workflowId: string,
  runId: string,
): Promise<WorkflowStart | null> {
  const { history } = await temporal.workflowService.getWorkflowExecutionHistory({
    namespace: temporal.options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: MAX_HISTORY_EVENTS,
  });
  const events = history?.events ?? [];
  if (events.some((event) => event.activityTaskCompletedEventAttributes)) return null;
  const started = events[0]?.workflowExecutionStartedEventAttributes;
  const { payloadConverter, payloadCodecs } = temporal.options.loadedDataConverter;
  let payloads = started?.input?.payloads ?? [];
  for (const codec of payloadCodecs) payloads = await codec.decode(payloads);
  const [payload] = payloads;
  const input = payload && readInput(payloadConverter.fromPayload(payload), workflowId);
  return input
    ? { input, signalled: events.some((event) => event.workflowExecutionSignaledEventAttributes) }
    : null;
}

/** Null for an input that every worker would refuse. */
function readInput(input: unknown, workflowId: string): StartInput | null {
  try {
    return parseStartInput(input, workflowId);
  } catch {
    return null;
  }
}

function toRecord(
  { input, signalled }: WorkflowStart,
  { startTime }: WorkflowExecutionDescription,
): ThreadRecord {
  const { threadId, agent, userId, arguments: given, parentId, rootId, messages, tags = [] } = input;
  const acceptedAt = startTime.getTime() * 1000;
  const organizationId = input.context?.organizationId;
  return {
    id: threadId,
    agent,
    name: null,
    userId,
    ...(organizationId === undefined ? {} : { organizationId }),
    arguments: given,
    tags,
    status: messages.length > 0 || signalled ? 'running' : 'idle',
    stopReason: null,
    lastError: null,
    session: { side: 'a', turns: 0 },
    parentId,
    rootId,
    createdAt: acceptedAt,
    updatedAt: acceptedAt,
    terminatedAt: null,
    lastStep: 0,
    childCount: 0,
    messageCount: 0,
    lastSeq: 0,
    costUsd: 0,
    inputTokens: 0,
    outputTokens: 0,
    waitingFor: null,
    failedCode: null,
    firstWords: null,
    lastWords: null,
    listed: { costUsd: 0, tokens: 0 },
  };
}
