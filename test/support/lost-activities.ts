/**
 * Lets the heartbeat timeouts of a killed worker's activities pass at once. So they can be far longer than any pause of
 * a living worker on a busy machine, and no test waits for them.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';

const { PENDING_ACTIVITY_STATE_STARTED, PENDING_ACTIVITY_STATE_CANCEL_REQUESTED } =
  proto.temporal.api.enums.v1.PendingActivityState;
/** Number of looks that find nothing: a task may be handed to a poll of the worker even after its death. */
const LOOKS_IN_VAIN = 10;
const PAUSE_MS = 200;
/** Since the last heartbeat. It is also what a next attempt has until its own timeout is restored. */
const SHORT_TIMEOUT = msToTs(1000);

export interface LostWorker {
  readonly client: Client;
  readonly taskQueue: string;
  readonly pid: number;
}

/** Ends when no activity of the worker has been found for a while, or when `left` aborts. */
export async function loseActivities(worker: LostWorker, left: AbortSignal): Promise<void> {
  for (let vain = 0; vain < LOOKS_IN_VAIN && !left.aborted; vain++) {
    // A server that is gone or busy lets the timeouts pass in their own time.
    const found = await look(worker, left).catch(() => 0);
    if (found > 0) vain = 0;
    await delay(PAUSE_MS, undefined, { signal: left }).catch(() => undefined);
  }
}

/** Returns how many were found. */
async function look(worker: LostWorker, left: AbortSignal): Promise<number> {
  const { client, taskQueue } = worker;
  let found = 0;
  const query = `TaskQueue = "${taskQueue}" AND ExecutionStatus = "Running"`;
  for await (const { workflowId } of client.workflow.list({ query })) {
    const pending = await pendingOf(client, workflowId);
    const lost = pending.filter((activity) => isLost(activity, worker)).map(({ activityId }) => activityId);
    for (const id of lost) if (id) await lose({ worker, workflowId, id, left });
    found += lost.length;
  }
  return found;
}

async function pendingOf({ workflow }: Client, workflowId: string) {
  const { raw } = await workflow.getHandle(workflowId).describe();
  return raw.pendingActivities ?? [];
}

function isLost(
  { state, lastWorkerIdentity }: proto.temporal.api.workflow.v1.IPendingActivityInfo,
  { pid }: LostWorker,
): boolean {
  const isHeld =
    state === PENDING_ACTIVITY_STATE_STARTED || state === PENDING_ACTIVITY_STATE_CANCEL_REQUESTED;
  return isHeld && lastWorkerIdentity?.includes(`:${pid}@`) === true;
}

async function lose({
  worker,
  workflowId,
  id,
  left,
}: {
  readonly worker: LostWorker;
  readonly workflowId: string;
  readonly id: string;
  readonly left: AbortSignal;
}): Promise<void> {
  const { client } = worker;
  const isStill = async () =>
    !left.aborted &&
    (await pendingOf(client, workflowId)).some((each) => each.activityId === id && isLost(each, worker));
  await passTimeout({ client, workflowId, id }, isStill);
}

interface HeldActivity {
  readonly client: Client;
  readonly workflowId: string;
  readonly id: string;
}

/** Lets the heartbeat timeout of an attempt pass, though its worker lives, and resolves once the next one has begun, or ended. */
export async function loseAttempt(
  { client, workflowId, activity }: { client: Client; workflowId: string; activity: string },
  attempt = 1,
): Promise<void> {
  const find = async () =>
    (await pendingOf(client, workflowId)).find(({ activityType }) => activityType?.name === activity);
  const id = (await find())?.activityId ?? '';
  await passTimeout({ client, workflowId, id }, async () => {
    const found = await find();
    if (found?.activityId !== id) return false;
    return (found.attempt ?? 0) <= attempt || found.state !== PENDING_ACTIVITY_STATE_STARTED;
  });
}

async function passTimeout(
  { client, workflowId, id }: HeldActivity,
  isStill: () => Promise<boolean>,
): Promise<void> {
  const activity = { namespace: client.options.namespace, execution: { workflowId }, id };
  await client.workflowService.updateActivityOptions({
    ...activity,
    activityOptions: { heartbeatTimeout: SHORT_TIMEOUT },
    updateMask: { paths: ['heartbeat_timeout'] },
  });
  while (await isStill()) await delay(20);
  // Fails where the activity has ended meanwhile.
  await client.workflowService
    .updateActivityOptions({ ...activity, restoreOriginal: true })
    .catch(() => undefined);
}
