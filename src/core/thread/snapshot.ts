/**
 * What a thread's workflow carries through continue-as-new: counters and ids, never large content.
 * - `version` increases with the shape; `parseSnapshot` reads every released version, and the rest of the code
 *   handles only the newest.
 * - A snapshot survives JSON unchanged: no Map, no Date, no undefined inside arrays.
 */

import { showJson } from '../value/json-measure.ts';
import type { QueueItem, Refusal } from './item.ts';
import type { Settings } from './open-thread.ts';
import type { QueueState } from './queue.ts';
import { NO_STEPS, type Session, type SideSteps } from './session.ts';
import type { ThreadStatus } from './step.ts';

export interface Snapshot {
  readonly version: 1;
  /** Number of items in line in the store; a hint, corrected by every commit that reads the store. */
  readonly waiting: number;
  /** Items whose content is still in the workflow; small, since larger ones go to the store. */
  readonly inline: readonly QueueItem[];
  /** How many of `inline`, from the front, a step is working on: they precede the items in the store. */
  readonly taken: number;
  readonly seen: readonly string[];
  /** How many items ever arrived; the next one without an id is numbered after it. */
  readonly arrived: number;
  /** The store's number of the last step that this workflow knows to have ended. */
  readonly afterStep: number;
  readonly turnOpen: boolean;
  /** True from a `stop` until the next user message. */
  readonly parked: boolean;
  readonly executionId: string | null;
  /** Model steps of the current execution. */
  readonly steps: number;
  /** Steps of the thread since it began, for display. */
  readonly totalSteps: number;
  readonly rejections: readonly Refusal[];
  readonly settings: Settings;
  readonly storeId: string;
  readonly agent: string;
  readonly status: ThreadStatus;
  /** Null unless the agent has two AI sides. */
  readonly session: Session | null;
  /** How many of `steps` each side made. */
  readonly sideSteps: SideSteps;
  readonly stopReason: string | null;
}

/** Throws on a version that this build does not know: an older worker must not run a newer thread. */
export function parseSnapshot(value: unknown): Snapshot {
  const version = (value as { version?: unknown } | null)?.version;
  if (version === 1) return checkFields(value as Snapshot);
  throw new Error(`carried state of version ${showJson(version)} is unknown to this worker; run a newer one`);
}

const FIELDS: Readonly<Record<keyof Snapshot, (value: unknown) => boolean>> = {
  version: (value) => value === 1,
  waiting: isCount,
  inline: Array.isArray,
  taken: isCount,
  seen: Array.isArray,
  arrived: isCount,
  afterStep: isCount,
  turnOpen: isBoolean,
  parked: isBoolean,
  executionId: (value) => value === null || typeof value === 'string',
  steps: isCount,
  totalSteps: isCount,
  rejections: Array.isArray,
  settings: (value) => typeof value === 'object' && value !== null,
  storeId: (value) => typeof value === 'string',
  agent: (value) => typeof value === 'string',
  status: (value) => typeof value === 'string',
  session: isRecordOrNull,
  sideSteps: (value) => value !== null && isRecordOrNull(value),
  stopReason: (value) => value === null || typeof value === 'string',
};

function isRecordOrNull(value: unknown): boolean {
  return typeof value === 'object';
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value);
}

function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean';
}

function checkFields(snapshot: Snapshot): Snapshot {
  for (const [field, check] of Object.entries(FIELDS)) {
    if (!check(snapshot[field as keyof Snapshot])) {
      throw new Error(
        `carried state is damaged at "${field}": ${showJson(snapshot[field as keyof Snapshot])}`,
      );
    }
  }
  return snapshot;
}

/** Progress of the thread's turns. */
export type TurnState = Pick<
  Snapshot,
  'afterStep' | 'turnOpen' | 'executionId' | 'steps' | 'totalSteps' | 'session' | 'sideSteps' | 'stopReason'
>;

/** What one run of a thread's workflow hands to the next, grouped by the part of the run that owns it. */
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
