/**
 * Reads what the request of a step is assembled from, in the transaction that begins the step: after all its writes, so
 * the messages that it drained are included. If nothing else comes first, the first model call begins here too.
 */
import type { RunContext } from '../../core/governance/run-context.ts';
import type { SideSteps } from '../../core/thread/session.ts';
import { toThreadRecord } from '../schema/rows.ts';
import { selectPlace, toCounts, toPlace, withCurrentAgent } from '../transaction/step-place.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { FIRST_CALL } from './model-call-record.ts';
import { countsOf } from './model-counts.ts';
import { readMessages, toLoopWarnings } from './read-context.ts';
import type { StepContext, StepPlace } from './step-place-record.ts';
import type { BeginStep, BegunStep } from './step-record.ts';
import { beginModelCall } from './stream.ts';

type Call = Extract<BegunStep, { kind: 'call' }>;

/** What the transaction knows of a step that it has opened. */
export interface OpenedPlace {
  readonly executionId: string;
  /** Model steps of the execution, this one included. */
  readonly sideSteps: SideSteps;
  /** The scratch of the execution, JSON text. */
  readonly scratch: string | null;
  readonly runContext: RunContext | null;
}

/** `opened`: absent for a step that was open before, whose place is read. */
export async function bringContext(
  thread: ThreadTransaction,
  { request }: Pick<BeginStep, 'request'>,
  call: Call,
  opened?: OpenedPlace,
): Promise<Call> {
  if (!request) return call;
  const { step, attempt } = call;
  const found = opened ? toOpened(thread, opened) : await readPlace(thread, step);
  const loops = toLoopWarnings(thread.row, found);
  const counts = countsOf(thread.row);
  const place: StepPlace = { thread: toThreadRecord(thread.written), step, ...found, ...loops, counts };
  const { window, call: first, delays } = request(place);
  const context: StepContext = await readMessages(thread.trx, place, window);
  const brought = { ...call, context, ...(opened ? noteTrimmed(thread, context) : {}) };
  // With a budget, the call is checked once it is known what will be sent.
  if (!first || thread.row.budget !== null || delays?.(context)) return brought;
  await beginModelCall(thread, { ...first, step, attempt, call: FIRST_CALL });
  return { ...brought, called: true };
}

/** Logged once per step: an earlier attempt at it may have logged it. */
function noteTrimmed(thread: ThreadTransaction, { step, trimmed }: StepContext): Pick<Call, 'noted'> {
  if (trimmed > 0) thread.emit('context.trimmed', { messages: trimmed }, { step });
  return { noted: true };
}

function toOpened({ row }: ThreadTransaction, opened: OpenedPlace) {
  const { executionId, sideSteps, scratch } = opened;
  const { side } = row;
  const runContext = withCurrentAgent(row, opened.runContext);
  const kept = JSON.parse(scratch ?? '{}') as StepPlace['scratch'];
  return { executionId, ...toCounts(sideSteps), side, scratch: kept, runContext, subprompt: null };
}

async function readPlace({ trx, threadId, row }: ThreadTransaction, step: number) {
  return toPlace(trx, row, await selectPlace(trx, threadId, step).executeTakeFirstOrThrow());
}
