/**
 * Runs a suspect unit of author code in a process of its own, so that nothing else falls with it (activities/author/unit.ts).
 * L1. It runs one unit, and ends with it. A fall by itself counts as a strike against the unit; an end caused from outside does
 *     not. In both cases the activity is retried.
 * L2. Failures before the unit begins, such as a project that cannot be read, do not count.
 * L3. Their number is limited: further units wait. The activity's heartbeats and its cancellation stay with this worker.
 */
import { randomUUID } from 'node:crypto';
import { extname } from 'node:path';
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { LoneActivity, RunAlone } from '../activities/base/dependencies.ts';
import type { Settings } from '../core/thread/open-thread.ts';
import { LIMITS } from '../core/value/limit.ts';
import type { AuthorRun } from '../state/author-run.ts';
import type { ThreadStore } from '../store/port/thread-store.ts';
import { type ProgramEnd, type ProgramProcess, readDeath, startProgram } from '../supervisor/index.ts';
import { type FromLone, fromFailureData, type LonePlace, type ToLone } from './lone-protocol.ts';
import { createTurnstile } from './turnstile.ts';

export interface LoneWorker {
  readonly place: LonePlace;
  readonly store: ThreadStore;
  readonly settings: Settings;
  /** Fires when this worker must hand its work over. */
  readonly handover: AbortSignal;
}

const PROGRAM = new URL(`./lone-program${extname(import.meta.url)}`, import.meta.url);
/** After a fall it may be retried at once: it is alone. */
const AGAIN = '200 ms';
/** Work that ignores its signal is killed. */
const CANCEL_WITHIN_MS = 10_000;

export function createRunAlone(worker: LoneWorker): RunAlone {
  const turnstile = createTurnstile(LIMITS.loneProcesses);
  return async (activity, input, unit) => {
    const { info, cancellationSignal } = Context.current();
    // A local activity has no time for it; the workflow retries it as an ordinary one.
    if (info.isLocal) throw again('Suspect', `${unit.name} is tried again in a process of its own.`);
    return turnstile.pass(cancellationSignal, () => runAlone(worker, { activity, input, unit }));
  };
}

interface LoneWork {
  readonly activity: LoneActivity;
  readonly input: unknown;
  readonly unit: AuthorRun;
}

type Lone = ProgramProcess<ToLone, FromLone>;

async function runAlone({ place, settings, handover, store }: LoneWorker, work: LoneWork): Promise<unknown> {
  const { info, cancellationSignal } = Context.current();
  const lone: Lone = startProgram<ToLone, FromLone>(PROGRAM);
  const answer = listen(lone);
  let force: NodeJS.Timeout | undefined;
  const onCancel = () => {
    lone.send({ kind: 'cancel' });
    force = setTimeout(() => lone.kill(), CANCEL_WITHIN_MS);
  };
  const onHandover = () => lone.send({ kind: 'hand_over' });
  lone.send({ kind: 'order', order: { ...place, settings, info, ...work } });
  cancellationSignal.addEventListener('abort', onCancel);
  handover.addEventListener('abort', onHandover);
  if (cancellationSignal.aborted) onCancel();
  if (handover.aborted) onHandover();
  try {
    const end = await lone.ended;
    const { told, begun } = answer();
    if (told?.kind === 'done') return told.value;
    if (told) throw fromFailureData(told.failure);
    throw await readEnd(store, work.unit, { end, begun, asked: cancellationSignal.aborted });
  } finally {
    clearTimeout(force);
    cancellationSignal.removeEventListener('abort', onCancel);
    handover.removeEventListener('abort', onHandover);
  }
}

/** Its messages so far. */
function listen(lone: Lone) {
  let begun = false;
  let told: Exclude<FromLone, { kind: 'begun' }> | undefined;
  lone.onMessage = (message) => {
    if (message.kind === 'begun') begun = true;
    else told = message;
  };
  return () => ({ begun, told });
}

interface LoneEnd {
  readonly end: ProgramEnd;
  readonly begun: boolean;
  readonly asked: boolean;
}

/** L1, L2: whether its end counts as a strike. */
async function readEnd(store: ThreadStore, unit: AuthorRun, { end, begun, asked }: LoneEnd): Promise<Error> {
  const death = readDeath({ ...end, ready: begun, asked, leaving: false, refusing: false });
  const how = 'how' in death ? death.how : 'it did not begin';
  if (death.kind !== 'own' || !begun)
    return again('WorkerLost', `The process of ${unit.name} has ended: ${how}.`);
  const { code, name } = death.culprit ?? unit;
  const culprit = { code, name, threadId: unit.threadId, work: unit.work };
  await store.strikes.recordDeaths([{ id: randomUUID(), culprit, suspects: [] }]);
  return again('WorkerCrashed', `${name} has taken down the process that it ran in, alone: ${how}.`);
}

function again(type: string, message: string): Error {
  return ApplicationFailure.create({ message, type, nextRetryDelay: AGAIN });
}
