/**
 * What one run of a thread's workflow hands to the next, grouped by the part of the run that owns it. In history it is a
 * snapshot: flat, versioned, readable by every later build (snapshot.ts).
 */
import type { Refusal } from './item.ts';
import type { Settings } from './open-thread.ts';
import type { QueueState } from './queue.ts';
import { NO_STEPS } from './session.ts';
import type { Snapshot } from './snapshot.ts';
import type { ThreadStatus } from './step.ts';

/** Progress of the thread's turns. */
export type TurnState = Pick<
  Snapshot,
  'afterStep' | 'turnOpen' | 'executionId' | 'steps' | 'totalSteps' | 'session' | 'sideSteps' | 'stopReason'
>;

export interface Carried {
  /** Absent at the thread's first run. */
  readonly queue?: QueueState;
  readonly parked: boolean;
  readonly rejections: readonly Refusal[];
  readonly turn: TurnState;
  readonly agent: string;
  readonly status: ThreadStatus;
  /** Absent until the thread has been opened for the first time. */
  readonly storeId?: string;
}

const NO_TURN: TurnState = {
  afterStep: 0,
  turnOpen: false,
  executionId: null,
  steps: 0,
  totalSteps: 0,
  session: null,
  sideSteps: NO_STEPS,
  stopReason: null,
};

/** State of a run that follows no other: the store has the thread's progress, if the thread has begun. */
export function createCarried(agent: string): Carried {
  return { parked: false, rejections: [], turn: NO_TURN, agent, status: 'idle' };
}

export function fromSnapshot(snapshot: Snapshot): Carried {
  const { waiting, inline, taken, seen, arrived, parked, rejections, agent, status, storeId } = snapshot;
  const { afterStep, turnOpen, executionId, steps, totalSteps, session, sideSteps, stopReason } = snapshot;
  return {
    queue: { waiting, inline, taken, seen, arrived },
    parked,
    rejections,
    turn: { afterStep, turnOpen, executionId, steps, totalSteps, session, sideSteps, stopReason },
    agent,
    status,
    storeId,
  };
}

export function toSnapshot(
  { queue, turn, storeId = '', ...own }: Carried & { readonly queue: QueueState },
  settings: Settings,
): Snapshot {
  return { version: 1, ...queue, ...turn, ...own, storeId, settings };
}
