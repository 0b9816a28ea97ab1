/**
 * The start input of a task's workflow: `{ task, intent?, domain?, inputs?, requiredKnowledge?, budget?, metadata?,
 * userId?, organizationId?, scenarioId? }`, or `{ task, userId?, stored }` with the id under which our client has stored it. The task's id is part of the workflow's id. Written by hand for the
 * `temporal` CLI as well. Runs inside the workflow: no schema library.
 */
import { type AgentTaskSpec, isTaskId, parseTaskSpec } from '../task/spec.ts';
import { showJson } from '../value/json-measure.ts';
import { LIMITS } from '../value/limit.ts';
import { isRecord } from '../value/record.ts';
import { InvalidStart, parseStored } from './start-input.ts';

export const TASK_ID_PREFIX = 'task/';
export const TASK_WORKFLOW_TYPE = 'task';

export interface TaskStart {
  readonly id: string;
  /** Name of a task in `agents/tasks`. */
  readonly task: string;
  readonly userId: string | null;
  readonly organizationId: string | null;
  /** Identifies the scenario when runs are compared. Default: the task's id. */
  readonly scenarioId: string | null;
  readonly spec: AgentTaskSpec;
  /** Id under which a client has stored the start input. */
  readonly stored?: string;
  /** Id of the store that the task has used so far, and continues to use. */
  readonly storeId: string | null;
}

/** True for an id under which the store keeps a task as it keeps a thread. No thread can have such an id. */
export function isTaskThread(threadId: string): boolean {
  return threadId.startsWith(TASK_ID_PREFIX);
}

export function toTaskId(threadId: string): string {
  return threadId.slice(TASK_ID_PREFIX.length);
}

/** The tag of threads that a task has started. */
export function tagOfTask(threadId: string): string {
  return threadId.slice(0, LIMITS.tagChars);
}

/** Throws `InvalidStart` with the first problem. */
export function parseTaskStart(input: unknown, workflowId: string): TaskStart {
  if (!isRecord(input)) throw new InvalidStart('the input must be an object such as {"task":"triage"}');
  const id = workflowId.slice(TASK_ID_PREFIX.length);
  if (!isTaskThread(workflowId) || !isTaskId(id))
    throw new InvalidStart(
      `the workflow id must be "${TASK_ID_PREFIX}" followed by the task's id (only letters, digits and . _ : -, at most ${LIMITS.threadIdChars} characters), not "${workflowId}"`,
    );
  const {
    task,
    userId = null,
    organizationId = null,
    scenarioId = null,
    storeId = null,
    stored,
    ...given
  } = input;
  if (typeof task !== 'string' || task.length === 0 || task.length > 128)
    throw new InvalidStart('"task" must be the name of a task in agents/tasks');
  if (!isTextOrNull(userId, LIMITS.userIdChars))
    throw new InvalidStart(`"userId" must be a string of at most ${LIMITS.userIdChars} characters`);
  if (!isTextOrNull(organizationId, LIMITS.contextTextChars))
    throw new InvalidStart(
      `"organizationId" must be a string of at most ${LIMITS.contextTextChars} characters`,
    );
  if (!isTextOrNull(scenarioId, LIMITS.contextTextChars))
    throw new InvalidStart(`"scenarioId" must be a string of at most ${LIMITS.contextTextChars} characters`);
  if (!isTextOrNull(storeId, LIMITS.threadIdChars)) throw new InvalidStart('"storeId" must be a string');
  if (given.id !== undefined && given.id !== null && given.id !== id)
    throw new InvalidStart(`"id" is ${showJson(given.id)}, but the workflow id contains "${id}"`);
  const parsed = parseTaskSpec({ ...given, id, intent: given.intent ?? task });
  if (!parsed.ok) throw new InvalidStart(parsed.reason);
  return {
    id,
    task,
    userId,
    organizationId,
    scenarioId,
    spec: parsed.spec,
    ...parseStored({ stored }),
    storeId,
  };
}

function isTextOrNull(value: unknown, chars: number): value is string | null {
  return value === null || (typeof value === 'string' && value.length > 0 && value.length <= chars);
}

/** How a task's workflow is started, whether new or revived; the same from every caller. */
export function taskStartOptions({ id, task }: { readonly id: string; readonly task: string }) {
  return {
    workflowId: TASK_ID_PREFIX + id,
    // The store keeps an ended task ended; a task whose run was killed continues.
    workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
    workflowTaskTimeout: '5 s' as const,
    staticSummary: `${task} · ${id}`.slice(0, 200),
    staticDetails:
      `A task **${task}**. Answer its questions with the signal \`answerWait\` and \`{"id": "…", "answer": {…}}\`; \`stop\` aborts it. ` +
      '*Request Cancellation* aborts it permanently; *Terminate* kills this run, and the next signal-with-start revives it.',
  };
}
