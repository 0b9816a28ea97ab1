/**
 * Runs a suspect unit of author code in a separate process, so that a crash affects nothing else
 * (activities/author/unit.ts).
 * - The process runs one unit, and ends with it. A crash counts as a strike against the unit; an end caused from
 *   outside does not. In both cases the activity is retried.
 * - Failures before the unit begins, such as a project that cannot be read, do not count as strikes.
 * - The number of lone processes is limited: further units wait. Heartbeats and cancellation of the activity are
 *   handled by this worker.
 */
import { randomUUID } from 'node:crypto';
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { LoneActivity, RunAlone } from '../activities/base/dependencies.ts';
import type { AuthorRun } from '../author/guard/author-run.ts';
import type { Settings } from '../core/thread/open-thread.ts';
import { LIMITS } from '../core/value/limit.ts';
import type { ThreadStore } from '../store/store.ts';
import { type ProgramEnd, type ProgramProcess, readDeath, startProgram } from '../supervisor/index.ts';
import { type FromLone, fromFailureData, type LonePlace, type ToLone } from './lone-protocol.ts';

export interface LoneWorker {
  /** The file that a lone process runs; it calls `runLoneProgram`. */
  readonly program: URL;
  readonly place: LonePlace;
  readonly store: ThreadStore;
  readonly settings: Settings;
  /** Aborts when this worker must hand its work over. */
  readonly handover: AbortSignal;
}

/** Delay before the next attempt. Short, because a crash in a lone process affects nothing else. */
const RETRY_DELAY = '200 ms';
/** A process whose work ignores the cancellation this long is killed. */
const CANCEL_WITHIN_MS = 10_000;

export function createRunAlone(worker: LoneWorker): RunAlone {
  const turnstile = createTurnstile(LIMITS.loneProcesses);
  return async (activity, input, unit) => {
    const { info, cancellationSignal } = Context.current();
    // A local activity has no time for a new process; the workflow retries it as a regular activity.
    if (info.isLocal) throw toRetryError('Suspect', `${unit.name} is retried in a separate process.`);
    return turnstile.pass(cancellationSignal, () => runAlone(worker, { activity, input, unit }));
  };
}

interface LoneWork {
  readonly activity: LoneActivity;
  readonly input: unknown;
  readonly unit: AuthorRun;
}

type LoneProcess = ProgramProcess<ToLone, FromLone>;

async function runAlone(
  { program, place, settings, handover, store }: LoneWorker,
  work: LoneWork,
): Promise<unknown> {
  const { info, cancellationSignal } = Context.current();
  const lone: LoneProcess = startProgram<ToLone, FromLone>(program);
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

/** Records the messages of the process; returns a function that reads them. */
function listen(lone: LoneProcess) {
  let begun = false;
  let lastMessage: Exclude<FromLone, { kind: 'begun' }> | undefined;
  lone.onMessage = (message) => {
    if (message.kind === 'begun') begun = true;
    else lastMessage = message;
  };
  return () => ({ begun, told: lastMessage });
}

interface LoneEnd {
  readonly end: ProgramEnd;
  readonly begun: boolean;
  readonly asked: boolean;
}

/** Stores a strike if the end of the process counts as one, and returns the error for the activity. */
async function readEnd(store: ThreadStore, unit: AuthorRun, { end, begun, asked }: LoneEnd): Promise<Error> {
  const death = readDeath({ ...end, ready: begun, asked, leaving: false, refusing: false });
  const how = 'how' in death ? death.how : 'it did not start';
  if (death.kind !== 'own' || !begun)
    return toRetryError('WorkerLost', `The process of ${unit.name} has ended: ${how}.`);
  const { code, name } = death.culprit ?? unit;
  const culprit = { code, name, threadId: unit.threadId, work: unit.work };
  await store.strikes.recordDeaths([{ id: randomUUID(), culprit, suspects: [] }]);
  return toRetryError('WorkerCrashed', `${name} crashed the separate process in which it ran alone: ${how}.`);
}

function toRetryError(type: string, message: string): Error {
  return ApplicationFailure.create({ message, type, nextRetryDelay: RETRY_DELAY });
}

interface Turnstile {
  /** Runs `work` once admitted. Rejects with the signal's reason if it aborts before that. */
  pass<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>;
}

/** A semaphore: at most a fixed number of callers run at once, admitted in order of arrival. */
function createTurnstile(places: number): Turnstile {
  let free = places;
  const waiting = new Set<() => void>();
  const leave = () => {
    const [next] = waiting;
    if (!next) {
      free += 1;
      return;
    }
    waiting.delete(next);
    next();
  };
  const enter = async (signal: AbortSignal): Promise<void> => {
    signal.throwIfAborted();
    if (free > 0) {
      free -= 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      waiting.add(resolve);
      signal.addEventListener('abort', () => waiting.delete(resolve) && reject(signal.reason), {
        once: true,
      });
    });
  };
  return {
    async pass(signal, work) {
      await enter(signal);
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}
