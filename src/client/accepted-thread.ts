/**
 * A thread between its acceptance and its opening: the server has its workflow, and no store has it yet. What is told of it is read off the
 * beginning of its history, so it is there however it was started, and costs nothing where a store knows the thread.
 */
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import {
  isThreadId,
  parseStartInput,
  type StartInput,
  WORKFLOW_ID_PREFIX,
} from '../core/thread/start-input.ts';
import type { ThreadRecord } from '../store/port/thread-store.ts';
import { isGone, toRuntimeError } from './workflow-error.ts';

/** Events of a history that are read: what starts it, and what its first worker does. */
const EVENTS = 20;

/** Null where nothing of that name runs, where a worker has opened it, and where it can never be opened. Throws `TemporalUnavailable`. */
export async function findAccepted(temporal: Client, threadId: string): Promise<ThreadRecord | null> {
  if (!isThreadId(threadId)) return null;
  const workflowId = WORKFLOW_ID_PREFIX + threadId;
  try {
    const described = await temporal.workflow.getHandle(workflowId).describe();
    if (described.status.name !== 'RUNNING') return null;
    const begin = await readBegin(temporal, workflowId, described.runId);
    return begin && toRecord(begin, described);
  } catch (error) {
    if (isGone(error)) return null;
    throw toRuntimeError(error);
  }
}

interface Begin {
  readonly input: StartInput;
  /** Something was said to it. */
  readonly signalled: boolean;
}

/** Null for a run whose first activity is done: that one has opened the thread. */
async function readBegin(temporal: Client, workflowId: string, runId: string): Promise<Begin | null> {
  const { history } = await temporal.workflowService.getWorkflowExecutionHistory({
    namespace: temporal.options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: EVENTS,
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

/** Null for an input that no worker takes. */
function readInput(input: unknown, workflowId: string): StartInput | null {
  try {
    return parseStartInput(input, workflowId);
  } catch {
    return null;
  }
}

function toRecord({ input, signalled }: Begin, { startTime }: WorkflowExecutionDescription): ThreadRecord {
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
  };
}
