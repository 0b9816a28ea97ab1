/** Where a thread is forked: the settled step, where its messages end, and who acts next there. */
import type { ExpressionBuilder, Selectable } from 'kysely';
import type { ThreadEventOf } from '../../core/event/thread-event.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { readActivated } from '../message/supersede.ts';
import { readEvent } from '../schema/rows.ts';
import type { Tables } from '../schema/tables.ts';
import type { ThreadTable } from '../thread/thread-record.ts';
import { selectRows } from '../transaction/rows.ts';
import { OPEN_CALL, type StepRow } from '../transaction/step-row.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';

export interface ForkPoint {
  readonly step: number;
  /** The next step of the thread; undefined at the head. */
  readonly next?: Pick<StepRow, 'step' | 'side' | 'first_seq' | 'opened_at'>;
  /** The time of the last message to copy. */
  readonly until: number;
  /** Number of the last step that the messages have, those of sub-prompts included. */
  readonly lastStep: number;
  /** Number of the last event of the step; absent at the head. */
  readonly seq?: number;
}

/** Throws `InvalidValue` for a step that does not exist, `ThreadBusy` if none has settled. */
export async function findForkPoint(source: ThreadTransaction, at: number | undefined): Promise<ForkPoint> {
  const { row, threadId } = source;
  if (at !== undefined && (!Number.isSafeInteger(at) || at < 1 || at > row.last_step))
    throw new RuntimeError(
      'InvalidValue',
      `Thread "${threadId}" has no step ${at}: ${row.last_step === 0 ? 'it has none' : `its steps are 1 to ${row.last_step}`}.`,
    );
  const settled = await source
    .select('steps')
    .select(['step', 'execution_id'])
    .where('kind', '!=', 'prompt')
    .where('state', 'not in', ['open', 'abandoned'])
    .where('step', '<=', at ?? row.last_step)
    .where(hasMessages)
    .where(hasNoOpenCall)
    .orderBy('step', 'desc')
    .limit(1)
    .executeTakeFirst();
  const atRest = row.turn_open === 0;
  const head = { until: row.clock, lastStep: row.last_step };
  if (!settled) {
    const copied = row.forked_from === null ? undefined : await findCopiedPoint(source, at);
    if (at === undefined && atRest) return { step: copied?.step ?? 0, ...head };
    if (copied) return copied;
    throw atRest
      ? new RuntimeError('InvalidValue', `Thread "${threadId}" has no answer at or before its step ${at}.`)
      : new RuntimeError(
          'ThreadBusy',
          `Thread "${threadId}" has no settled step ${at === undefined ? 'yet' : `at or before ${at}`}: wait until it is at rest to fork it.`,
        );
  }
  const { step, execution_id: execution } = settled;
  const next = await source
    .select('steps')
    .select(['step', 'side', 'first_seq', 'opened_at'])
    .where('kind', '!=', 'prompt')
    .where('step', '>', step)
    .orderBy('step')
    .limit(1)
    .executeTakeFirst();
  if (!next || (at === undefined && atRest)) return { step, ...head };
  const { until } = await selectRows(source.trx, 'messages', {
    thread_id: threadId,
    execution_id: execution,
    step,
  })
    .select((eb) => eb.fn.max('created_at').as('until'))
    .executeTakeFirstOrThrow();
  const last = await source
    .select('events', { step })
    .select('seq')
    .where('seq', '<=', next.first_seq)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return { step, next, until, lastStep: next.step - 1, seq: last?.seq ?? 0 };
}

/** A step that the source, a fork, has copied itself: its rows are its messages, and none of its calls is open. */
async function findCopiedPoint(
  source: ThreadTransaction,
  at: number | undefined,
): Promise<ForkPoint | undefined> {
  const { row } = source;
  const { step, until } = await source
    .select('messages')
    .select(({ fn }) => [fn.max('step').as('step'), fn.max('created_at').as('until')])
    .where('step', '<=', at ?? row.last_step)
    .executeTakeFirstOrThrow();
  if (step === null || until === null) return undefined;
  const next = { step: step + 1, side: row.side, first_seq: 0, opened_at: row.created_at };
  return { step, next, until, lastStep: step, seq: 0 };
}

function hasMessages(eb: ExpressionBuilder<Tables, 'steps'>) {
  return eb.exists(
    eb
      .selectFrom('messages')
      .select('messages.id')
      .whereRef('messages.thread_id', '=', 'steps.thread_id')
      .whereRef('messages.execution_id', '=', 'steps.execution_id')
      .whereRef('messages.step', '=', 'steps.step'),
  );
}

function hasNoOpenCall(eb: ExpressionBuilder<Tables, 'steps'>) {
  return eb.not(
    eb.exists(
      eb
        .selectFrom('tool_calls')
        .select('tool_calls.idx')
        .whereRef('tool_calls.thread_id', '=', 'steps.thread_id')
        .whereRef('tool_calls.step', '=', 'steps.step')
        .where('tool_calls.state', 'in', OPEN_CALL),
    ),
  );
}

type Flow = Pick<Selectable<ThreadTable>, 'agent' | 'next_agent' | 'side' | 'turns' | 'activated'>;

/** Who acts next, as at the point: its agent, the side, and which sides have made their immediate calls. */
export async function readFlow(
  source: ThreadTransaction,
  { next, lastStep, seq = 0 }: ForkPoint,
): Promise<Flow> {
  const { agent, next_agent, side, turns, activated } = source.row;
  if (!next) return { agent, next_agent, side, turns, activated };
  const row = await source
    .select('events', { type: 'thread.agent' })
    .selectAll()
    .where('seq', '>', seq)
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst();
  const handoff = row && (readEvent(row) as ThreadEventOf<'thread.agent'>);
  const begun = await source
    .select('events', { type: 'step.started', step: next.step })
    .select('seq')
    .where('seq', '>', next.first_seq)
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst();
  const then = handoff?.data.from ?? agent;
  return {
    agent: then,
    // The step has handed over; the next one began with that.
    next_agent: handoff && begun && handoff.seq < begun.seq ? handoff.data.to : null,
    side: next.side,
    turns: 0,
    activated: await readActivated(source, { agent: then, lastStep }),
  };
}
