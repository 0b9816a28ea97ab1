/** Lists an agent's tasks that have begun, the latest first: of one context, or of all if the caller may read all. */
import { z } from '@hono/zod-openapi';
import {
  type A2aTask,
  TASK_STATES,
  type TaskState,
  toTimestamp,
} from '../../../projections/a2a/a2a-shape.ts';
import type {
  ExecutionPlace,
  ExecutionRecord,
  RunRecordState,
} from '../../../store/execution/execution-record.ts';
import { requireThreadOf } from '../agent-thread.ts';
import type { Caller } from '../caller.ts';
import type { ApiHost } from '../host.ts';
import { requireThreadAccess } from '../own-list.ts';
import { refuseRequest } from '../problem.ts';
import { optionalField, optionalText } from '../schema/optional-field.ts';
import { withHistory } from './task-history.ts';
import { readTask } from './task-reading.ts';

const STATES: Readonly<Record<RunRecordState, TaskState>> = {
  working: 'TASK_STATE_WORKING',
  'input-required': 'TASK_STATE_INPUT_REQUIRED',
  completed: 'TASK_STATE_COMPLETED',
  canceled: 'TASK_STATE_CANCELED',
  failed: 'TASK_STATE_FAILED',
};

const flag = z.union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')]);

export const listParams = z.object({
  contextId: optionalText,
  status: optionalField(z.enum(['', 'TASK_STATE_UNSPECIFIED', ...TASK_STATES])),
  pageSize: optionalField(z.coerce.number().int().min(1).max(100)).transform((size = 50) => size),
  pageToken: optionalText,
  historyLength: optionalField(z.coerce.number().int().min(0)).transform((length = 0) => length),
  statusTimestampAfter: optionalField(z.iso.datetime({ offset: true })),
  includeArtifacts: optionalField(flag).transform((wanted = false) => wanted),
});

/** Artifacts and history are there if they are asked for. */
export type ListedTask = Omit<A2aTask, 'artifacts' | 'history'> & Partial<A2aTask>;

/** Number of tasks up to which `totalSize` counts. */
const MAX_COUNTED = 1000;

export async function listTasks(
  host: ApiHost,
  caller: Caller,
  { agent, ...params }: z.infer<typeof listParams> & { readonly agent: string },
) {
  const { contextId = '', pageSize, pageToken = '', statusTimestampAfter: since } = params;
  const threadId = contextId === '' ? undefined : contextId;
  if (threadId === undefined) await requireThreadAccess(host.client, caller, threadId);
  else await requireThreadOf(host.client, caller, { agent, threadId });
  const { executions } = host.client.store;
  const state = toState(params.status);
  const empty = { tasks: [], nextPageToken: '', pageSize, totalSize: 0 };
  if (state === null) return empty;
  const asked = { ...(threadId === undefined ? { agent } : { threadId }), ...(state ? { state } : {}) };
  const before = pageToken === '' ? {} : { before: readPlace(pageToken) };
  const all = await executions.list({ ...asked, limit: MAX_COUNTED });
  // One more than the page, to know whether another page follows.
  const found = await executions.list({ ...asked, ...before, limit: pageSize + 1 });
  const page = found.slice(0, pageSize);
  const last = found.length > pageSize ? page.at(-1) : undefined;
  const wanted =
    since === undefined ? page : page.filter((each) => changedAt(each) / 1000 > Date.parse(since));
  const tasks: ListedTask[] = [];
  for (const record of wanted) tasks.push(await toListedTask(host, record, params));
  return { tasks, nextPageToken: last ? toToken(last) : '', pageSize, totalSize: all.length };
}

async function toListedTask(
  { client }: ApiHost,
  record: ExecutionRecord,
  { historyLength, includeArtifacts }: z.infer<typeof listParams>,
): Promise<ListedTask> {
  const { id, threadId: contextId, state } = record;
  const status = { state: STATES[state], timestamp: toTimestamp(changedAt(record)) };
  if (historyLength === 0 && !includeArtifacts) return { id, contextId, status };
  const thread = await client.getThread(contextId);
  const whole = await readTask(client, { taskId: id, thread, itemId: null });
  const { artifacts, ...task } = withHistory(whole, historyLength);
  return includeArtifacts ? { ...task, artifacts } : task;
}

function changedAt({ startedAt, endedAt }: ExecutionRecord): number {
  return endedAt ?? startedAt;
}

/** Undefined: any state. Null: a state that no begun task has. */
function toState(status = ''): RunRecordState | null | undefined {
  if (status === '' || status === 'TASK_STATE_UNSPECIFIED') return undefined;
  const found = Object.entries(STATES).find(([, state]) => state === status);
  return found ? (found[0] as RunRecordState) : null;
}

function toToken({ startedAt, threadId, id }: ExecutionPlace): string {
  return Buffer.from(JSON.stringify([startedAt, threadId, id])).toString('base64url');
}

function readPlace(token: string): ExecutionPlace {
  try {
    const [startedAt, threadId, id] = JSON.parse(Buffer.from(token, 'base64url').toString('utf8'));
    if (typeof startedAt === 'number' && typeof threadId === 'string' && typeof id === 'string')
      return { startedAt, threadId, id };
  } catch {
    // Not one of ours.
  }
  return refuseRequest('The "pageToken" is invalid: use the one that was returned with a page.');
}
